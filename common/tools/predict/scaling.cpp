// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/tools/predict/scaling.hpp"

#include "common/tools/predict/simulator/simulation.hpp"

#include <algorithm>
#include <cmath>
#include <deque>
#include <map>

namespace dlmb::predict {
namespace {

constexpr double ps_per_ns = 1000;
constexpr std::uint64_t most_messages_with_hops = 20'000'000;  // more are simulated by the ranks that stand for all

/// Messages that take no time but that of their links.
class Hops : public Network {
public:
    Hops(Interconnect const& interconnect, std::vector<int> const& nodes, double hop_ps)
        : interconnect_(interconnect), nodes_(nodes), hop_ps_(hop_ps) {}

    void start(FlowId flow, Rank /*from*/, Rank /*to*/, Bytes /*bytes*/, Picoseconds now) override {
        flows_.emplace_back(now + 1, flow);
    }
    [[nodiscard]] Picoseconds next_event() const override { return flows_.empty() ? never : flows_.front().first; }
    std::optional<FlowId> end_next(Picoseconds now) override {
        if (flows_.empty() || flows_.front().first > now) {
            return std::nullopt;
        }
        FlowId const flow = flows_.front().second;
        flows_.pop_front();
        return flow;
    }
    [[nodiscard]] Picoseconds extra_latency(Rank from, Rank to) const override {
        double const hops =
            interconnect_.hops(nodes_[static_cast<std::size_t>(from)], nodes_[static_cast<std::size_t>(to)]);
        return std::llround(std::max(0.0, hops - 1) * hop_ps_);
    }

private:
    Interconnect const& interconnect_;
    std::vector<int> const& nodes_;
    double hop_ps_;
    std::deque<std::pair<Picoseconds, FlowId>> flows_;
};

/// How many consecutive ranks share the first node.
int ranks_per_node_of(std::vector<int> const& nodes) {
    auto const other = std::find_if(nodes.begin(), nodes.end(), [&](int node) { return node != nodes.front(); });
    return static_cast<int>(other - nodes.begin());
}

}  // namespace

PlacedTraffic::PlacedTraffic(Topology topology, std::vector<int> nodes, NetworkCosts const& costs,
                             AllreduceBy allreduce)
    : topology_(std::move(topology)), interconnect_(interconnect_of(topology_)), nodes_(std::move(nodes)),
      costs_(costs), allreduce_(topology_.reduction_depth() > 0 ? allreduce : AllreduceBy::messages),
      loads_(*interconnect_) {}

/// What a tree of switches adds: each member's bytes in and out, and those of a switch once upwards. Downwards the tree
/// is the same, so that its busiest link is counted already. The routes to one member are such a tree.
void PlacedTraffic::reduce_in_switches(Group const& group, double bytes) {
    auto const nodes = static_cast<LinkId>(interconnect_->nodes());
    std::map<LinkId, double> tree;
    std::vector<RouteLink> route;
    int const root = node_of(group.members.front());
    for (Rank const member : group.members) {
        auto const node = static_cast<LinkId>(node_of(member));
        loads_.add(node, bytes);
        loads_.add(nodes + node, bytes);
        if (node_of(member) != root) {
            interconnect_->route(node_of(member), root, route);
            for (RouteLink const& each : route) {
                if (each.link >= 2 * nodes) {
                    tree[each.link] = std::max(tree[each.link], each.share);
                }
            }
        }
    }
    for (auto const& [link, share] : tree) {
        loads_.add(link, share * bytes);
    }
}

/// Computations take no time, and what switches reduce is no message: it takes the latencies of the tree.
Plan PlacedTraffic::without_computation(Plan plan) const {
    for (Step& step : plan.steps) {
        auto const* const allreduce = std::get_if<AllReduce>(&step.operation);
        if (std::holds_alternative<Compute>(step.operation)) {
            step.operation = Compute{};
        } else if (allreduce != nullptr && allreduce_ == AllreduceBy::in_network) {
            bool const alone = plan.groups[allreduce->group].members.size() < 2;
            double const latency_ps = alone ? 0 : 2.0 * topology_.reduction_depth() * costs_.latency_ps;
            step.operation = Compute{.busy_ns = static_cast<Nanoseconds>(latency_ps / ps_per_ns)};
        }
    }
    return plan;
}

void PlacedTraffic::add(PlanSource const& plans, LoweringChoice const& choice) {
    auto const ranks = static_cast<int>(plans.ranks());
    if (allreduce_ == AllreduceBy::in_network) {
        plans.each([&](Plan const& plan) {
            for (Step const& step : plan.steps) {
                auto const* const allreduce = std::get_if<AllReduce>(&step.operation);
                Group const* const group = allreduce == nullptr ? nullptr : &plan.groups[allreduce->group];
                if (group != nullptr && group->members.size() > 1 && group->members.front() == plan.me) {
                    reduce_in_switches(*group, static_cast<double>(allreduce->bytes));
                }
            }
        });
    }
    PlanSource const bare(plans.ranks(), [&](Rank rank) { return without_computation(plans.of(rank)); });
    int const per_node = ranks_per_node_of(nodes_);
    int const period = period_of(bare, choice, per_node);
    std::uint64_t messages = 0;
    for (Rank rank = 0; rank < period; ++rank) {
        std::map<Rank, double> bytes_to;
        each_send(bare.of(rank), choice, ranks, [&](Rank to, Bytes bytes) {
            bytes_to[to] += static_cast<double>(bytes);
            ++messages;
        });
        for (auto const& [to, bytes] : bytes_to) {
            for (Rank further = 0; further < ranks; further += period) {
                loads_.add({node_of(rank + further), node_of((to + further) % ranks), bytes});
            }
        }
    }
    Machine machine = uniform_machine({.latency = std::llround(costs_.latency_ps)});
    for (Level const level : {Level::self, Level::numa, Level::socket, Level::node}) {
        machine.levels[static_cast<std::size_t>(level)].front().parameters.latency = 0;
    }
    machine.ranks_per_node = per_node;
    std::uint64_t const of_all = messages / static_cast<std::uint64_t>(period) * static_cast<std::uint64_t>(ranks);
    bool const by_hops = costs_.hop_ps > 0 && of_all <= most_messages_with_hops;
    Hops hops(*interconnect_, nodes_, costs_.hop_ps);
    Simulation const chain = simulate(lower(bare, choice, by_hops ? 0 : period), machine, by_hops ? &hops : nullptr);
    latency_ps_ = std::max(latency_ps_, static_cast<double>(chain.time));
}

void PlacedTraffic::add_uniform(double bytes) {
    int const nodes = interconnect_->nodes();
    if (nodes < 2) {
        return;
    }
    LinkLoads const uniform = uniform_loads(*interconnect_, bytes / (nodes - 1));
    for (LinkId link = 0; link < interconnect_->links(); ++link) {
        loads_.add(link, uniform.bytes(link));
    }
    latency_ps_ = std::max(latency_ps_, costs_.latency_ps);
}

Bound PlacedTraffic::bound() const {
    return bound_of(loads_, latency_ps_, costs_.bytes_per_ps);
}

}  // namespace dlmb::predict
