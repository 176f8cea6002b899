// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/base/error.hpp"
#include "common/formats/plan_file/plan_file.hpp"
#include "common/tools/tune/gain/gain.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace dlmb::tuning {
namespace {

std::uint64_t nodes_of(std::vector<Rank> const& group, WorldShape const& world) {
    std::set<int> nodes;
    for (Rank const rank : group) {
        nodes.insert(world.node_of(rank));
    }
    return nodes.size();
}

Bytes total(std::span<Block const> blocks) {
    Bytes bytes = 0;
    for (Block const& block : blocks) {
        bytes += block.bytes;
    }
    return bytes;
}

/// An exchange that all ranks of a group take part in: the n-th one of this group in each of their plans.
struct GroupExchange {
    Conditions conditions;
    Bytes sent = 0;  // by all ranks
    Bytes most = 0;  // that a rank sends or receives
    std::set<Bytes> blocks;
    std::uint64_t block_count = 0;
};
using Members = std::vector<Rank>;

/// The traffic of one iteration, from the plans of its ranks.
class Counter {
public:
    explicit Counter(PlanHeader const& header) : world_(header.world) {
        if (world_.ranks_per_node == 0) {
            throw UsageError(fmt::format(
                "{}: world.ranks_per_node is 0: how many ranks a node has is not known or differs, and no table holds "
                "for that; give --ranks-per-node to dlmb_plan import or to the program",
                header.file));
        }
    }

    void add(Plan const& plan) {
        std::map<Members, std::size_t> exchanges;
        for (Step const& step : plan.steps) {
            if (auto const operation = tuned(step.operation)) {
                add(plan, step.operation, *operation, exchanges);
            }
        }
    }

    [[nodiscard]] Traffic take() && {
        for (auto& [key, all] : exchanges_) {
            Bytes const ranks = all.conditions.ranks;
            all.conditions.uniform = all.blocks.size() <= 1 && all.block_count == ranks * ranks;
            if (!*all.conditions.uniform && all.sent > 0) {
                all.conditions.imbalance = imbalance_class(static_cast<double>(all.most) * static_cast<double>(ranks) /
                                                           static_cast<double>(all.sent));
            }
            count(all.conditions, all.sent / ranks, static_cast<double>(ranks));
        }
        return std::move(traffic_);
    }

private:
    /// Tables have no rules for the others, and rules are of the calls for equal parts: one with shares is another
    /// call.
    static std::optional<TunedOperation> tuned(Operation const& operation) {
        bool const is_vector = std::visit(
            [](auto const& step) {
                if constexpr (requires { step.shares; }) {
                    return !step.shares.empty();
                }
                return false;
            },
            operation);
        switch (kind_of(operation)) {
        case OperationKind::send:
            return TunedOperation::sendrecv;
        case OperationKind::exchange:
        case OperationKind::all_reduce:
        case OperationKind::reduce_scatter:
        case OperationKind::all_gather:
        case OperationKind::broadcast:
            return is_vector ? std::nullopt : operation_named(name_of(operation));
        default:
            return std::nullopt;
        }
    }

    void add(Plan const& plan, Operation const& operation, TunedOperation tuned,
             std::map<Members, std::size_t>& exchanges) {
        Members const& group = plan.groups[group_of(operation).value()].members;
        Conditions conditions;
        conditions.operation = tuned;
        conditions.ranks = group.size();
        conditions.nodes = nodes_of(group, world_);
        std::visit(
            [&](auto const& step) {
                if constexpr (requires { step.reduction; }) {
                    conditions.reduction = name_of(step.reduction);
                    conditions.dtype = name_of(step.element);
                }
                if constexpr (requires { step.element; }) {
                    count(conditions, step.bytes, 1);
                }
            },
            operation);
        if (auto const* exchange = std::get_if<Exchange>(&operation)) {
            GroupExchange& all = exchanges_[{group, exchanges[group]++}];
            all.conditions = conditions;
            all.sent += total(exchange->send);
            all.most = std::max({all.most, total(exchange->send), total(exchange->recv)});
            for (Block const& block : exchange->send) {
                all.blocks.insert(block.bytes);
                ++all.block_count;
            }
        } else if (auto const* send = std::get_if<Send>(&operation)) {
            count(conditions, send->to.bytes, static_cast<double>(send->window.messages));
        }
    }

    void count(Conditions const& conditions, Bytes bytes, double by_ranks) {
        traffic_[{conditions, bytes}] += by_ranks / world_.ranks;
    }

    WorldShape world_;
    std::map<std::pair<Members, std::size_t>, GroupExchange> exchanges_;
    Traffic traffic_;
};

}  // namespace

Traffic read_traffic(std::filesystem::path const& path) {
    std::vector<Counter> iterations;
    read_plans(path, {[&](PlanHeader const& header) {
                          iterations.emplace_back(header);
                          return true;
                      },
                      [&](Plan const& plan) {
                          iterations.back().add(plan);
                          return true;
                      }});
    Traffic mean;
    for (Counter& iteration : iterations) {
        for (auto const& [demand, count] : std::move(iteration).take()) {
            mean[demand] += count / static_cast<double>(iterations.size());
        }
    }
    return mean;
}

}  // namespace dlmb::tuning
