// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/base/error.hpp"
#include "common/base/input_file.hpp"
#include "common/formats/record/json.hpp"
#include "common/tools/tune/gain/gain.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <set>
#include <string_view>

namespace dlmb::tuning {
namespace {

using record::Json;

template <class Value>
Value field_of(Json const& object, char const* field) {
    Value value{};
    record::read_value(object.at(field), value, field);
    return value;
}

std::uint64_t nodes_of(std::vector<std::uint64_t> const& group, std::uint64_t ranks_per_node) {
    std::set<std::uint64_t> nodes;
    for (std::uint64_t const rank : group) {
        nodes.insert(rank / ranks_per_node);
    }
    return nodes.size();
}

/// An exchange that all ranks of a group take part in: the n-th one of this group in each of their plans.
struct Exchange {
    Conditions conditions;
    Bytes sent = 0;  // by all ranks
    Bytes most = 0;  // that a rank sends or receives
    std::set<Bytes> blocks;
    std::uint64_t block_count = 0;
};
using ExchangeKey = std::pair<std::vector<std::uint64_t>, std::size_t>;

Bytes total(Json const& blocks) {
    Bytes bytes = 0;
    for (Json const& block : blocks) {
        bytes += field_of<Bytes>(block, "bytes");
    }
    return bytes;
}

class Reader {
public:
    explicit Reader(Json const& document)
        : ranks_per_node_(field_of<std::uint64_t>(document.at("world"), "ranks_per_node")),
          ranks_(document.at("plans").size()) {
        if (ranks_per_node_ == 0) {
            throw UsageError(
                "world.ranks_per_node is 0: how many ranks a node has is not known or differs, and no table holds for "
                "that; give --ranks-per-node to dlmb_trace import or to the program");
        }
        for (Json const& plan : document.at("plans")) {
            std::map<std::vector<std::uint64_t>, std::size_t> exchanges;
            for (Json const& step : plan.at("steps")) {
                read(step, exchanges);
            }
        }
        add_exchanges();
    }
    [[nodiscard]] Traffic take() { return std::move(traffic_); }

private:
    void read(Json const& step, std::map<std::vector<std::uint64_t>, std::size_t>& exchanges) {
        std::string const operation = step.at("operation");
        // Tables have no rules for the last four, and rules are of the calls for equal parts: one with shares is
        // another call.
        constexpr std::array<std::string_view, 6> passed_over{"compute", "recv",   "barrier",
                                                              "gather",  "reduce", "scatter"};
        if (std::find(passed_over.begin(), passed_over.end(), operation) != passed_over.end() ||
            step.contains("shares")) {
            return;
        }
        auto const group = field_of<std::vector<std::uint64_t>>(step, "group");
        if (group.empty()) {
            throw UsageError("a step has a group without ranks");
        }
        Conditions conditions;
        conditions.operation = operation_named(operation == "send" ? "sendrecv" : operation).value();
        conditions.ranks = group.size();
        conditions.nodes = nodes_of(group, ranks_per_node_);
        conditions.reduction = step.value("reduction", "");
        conditions.dtype = conditions.reduction.empty() ? "" : step.at("element").get<std::string>();
        if (operation == "exchange") {
            Exchange& all = exchanges_[{group, exchanges[group]++}];
            all.conditions = conditions;
            Bytes const sent = total(step.at("send"));
            all.sent += sent;
            all.most = std::max({all.most, sent, total(step.at("recv"))});
            for (Json const& block : step.at("send")) {
                all.blocks.insert(field_of<Bytes>(block, "bytes"));
                ++all.block_count;
            }
        } else if (operation == "send") {
            add(conditions, field_of<Bytes>(step.at("send").at(0), "bytes"),
                static_cast<double>(step.at("send").size()));
        } else {
            add(conditions, field_of<Bytes>(step, "bytes"), 1);
        }
    }

    void add_exchanges() {
        for (auto& [key, all] : exchanges_) {
            std::uint64_t const ranks = all.conditions.ranks;
            all.conditions.uniform = all.blocks.size() <= 1 && all.block_count == ranks * ranks;
            if (!*all.conditions.uniform && all.sent > 0) {
                all.conditions.imbalance = imbalance_class(static_cast<double>(all.most) * static_cast<double>(ranks) /
                                                           static_cast<double>(all.sent));
            }
            add(all.conditions, all.sent / ranks, static_cast<double>(ranks));
        }
    }

    void add(Conditions const& conditions, Bytes bytes, double by_ranks) {
        traffic_[{conditions, bytes}] += by_ranks / static_cast<double>(ranks_);
    }

    std::uint64_t ranks_per_node_;
    std::size_t ranks_;
    std::map<ExchangeKey, Exchange> exchanges_;
    Traffic traffic_;
};

}  // namespace

Traffic parse_traffic(std::string const& text, std::string const& source) {
    try {
        Json const document = Json::parse(text);
        if (!document.at("schema").get<std::string>().starts_with("dlmb.plan/1.")) {
            throw UsageError("is no dlmb.plan/1.x document; make one with --plan json");
        }
        return Reader(document).take();
    } catch (Json::exception const& error) {
        throw UsageError(fmt::format("{}: is no plan document ({}); make one with --plan json", source, error.what()));
    } catch (UsageError const& error) {
        throw UsageError(fmt::format("{}: {}", source, error.what()));
    } catch (std::bad_optional_access const&) {
        throw UsageError(fmt::format("{}: has a step of an operation that tables do not know", source));
    }
}

Traffic read_traffic(std::filesystem::path const& plan) {
    if (!std::filesystem::is_directory(plan)) {
        return parse_traffic(read_document(plan), plan.string());
    }
    std::vector<std::filesystem::path> files;
    for (auto const& entry : std::filesystem::directory_iterator(plan)) {
        if (entry.path().extension() == ".json") {
            files.push_back(entry.path());
        }
    }
    if (files.empty()) {
        throw UsageError(fmt::format("{}: has no plan in it (*.json)", plan.string()));
    }
    Traffic mean;
    for (std::filesystem::path const& file : files) {
        for (auto const& [demand, count] : parse_traffic(read_document(file), file.string())) {
            mean[demand] += count / static_cast<double>(files.size());
        }
    }
    return mean;
}

}  // namespace dlmb::tuning
