// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/tuning/exporters/nccl_rows.hpp"

#include "common/backend_kit/nccl_tuner_control.hpp"
#include "common/tuning/size_basis.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>

namespace dlmb::tuning {
namespace {

constexpr CountInterval any_number{1, no_limit};
constexpr std::uint64_t most_lines = 64;  // of one rule and key

template <std::size_t count>
bool is_one_of(std::array<std::string_view, count> const& names, std::string_view name) {
    return std::find(names.begin(), names.end(), name) != names.end();
}

std::string_view collective_name(TunedOperation operation) {
    return operation == TunedOperation::reduce_scatter ? "reducescatter" : name_of(operation);
}

/// A column that holds one number or any: a range is a line for each number. Nothing: too many.
std::optional<std::vector<std::optional<std::uint64_t>>> column(CountInterval range, bool any_is_wild) {
    if (any_is_wild && range == any_number) {
        return std::vector<std::optional<std::uint64_t>>(1);
    }
    if (range.max == no_limit || range.max - range.min >= most_lines) {
        return std::nullopt;
    }
    std::vector<std::optional<std::uint64_t>> values;
    for (std::uint64_t value = range.min; value <= range.max; ++value) {
        values.emplace_back(value);
    }
    return values;
}

/// Whether ranks that lie evenly on nodes can be what the rule says of nodes besides their number.
bool lies_so(When const& when, std::uint64_t ranks, std::uint64_t nodes) {
    return (!when.ranks_per_node || (ranks % nodes == 0 && when.ranks_per_node->contains(ranks / nodes))) &&
           (when.distribution != Distribution::single_node || nodes == 1) &&
           (when.distribution != Distribution::one_per_node || nodes == ranks);
}

class Rows {
public:
    Rows(bool every_rank, bool chunks, NcclRows& result) : every_rank_(every_rank), chunks_(chunks), result_(result) {}

    void add(Carried const& one) {
        Rule const& rule = *one.rule;
        if (unit_of(SizeConsumer::nccl, rule.when.operation, rule.when.uniform.value_or(false)) != SizeUnit::native) {
            return lose(rule, LostReason::operation_not_tunable,
                        fmt::format("NCCL asks no tuner for {}", name_of(rule.when.operation)));
        }
        if (!check_choice(rule)) {
            return;
        }
        When const& when = rule.when;
        // What a rule says of ranks per node needs both numbers.
        bool const both = when.ranks_per_node || when.distribution == Distribution::one_per_node;
        CountInterval nodes = when.nodes.value_or(any_number);
        if (when.distribution == Distribution::single_node) {
            nodes = {1, 1};
        } else if (both && nodes == any_number && one.ranks.max != no_limit) {
            nodes.max = one.ranks.max;
        }
        auto const of_ranks = column(one.ranks, !both && !every_rank_);
        auto const of_nodes = column(nodes, !both);
        auto const of_pipe_ops = column(when.group_pipe_ops.value_or(any_number), true);
        if (!of_ranks || !of_nodes || !of_pipe_ops) {
            return lose(rule, LostReason::range_limit,
                        fmt::format("needs a line for each number of ranks and nodes, {} at most", most_lines));
        }
        for (auto const ranks : *of_ranks) {
            for (auto const on : *of_nodes) {
                if (ranks && on && (*on > *ranks || !lies_so(when, *ranks, *on))) {
                    continue;
                }
                for (auto const pipe_ops : *of_pipe_ops) {
                    result_.rows.push_back({&rule, collective_name(when.operation), one.bytes, ranks, on, pipe_ops});
                }
            }
        }
    }

private:
    void lose(Rule const& rule, LostReason why, std::string detail) {
        result_.lost.push_back({rule.id, why, std::move(detail)});
    }

    bool check_choice(Rule const& rule) {
        auto const& algorithm = rule.choose.algorithm;
        ChoiceParams rest = rule.choose.params;
        if (!algorithm || algorithm->family != "nccl" || !is_one_of(nccl_tuner::algorithm_names, algorithm->name) ||
            !is_one_of(nccl_tuner::protocol_names, rest.protocol)) {
            lose(rule, LostReason::unknown_algorithm, "names no algorithm with a protocol of NCCL");
            return false;
        }
        rest.protocol.clear();
        rest.channels.reset();
        if (chunks_) {
            rest.chunk_bytes.reset();
        }
        if (rest != ChoiceParams{}) {
            lose(rule, LostReason::key_not_expressible, "has parameters that the file has no column for");
            return false;
        }
        return true;
    }

    bool every_rank_;
    bool chunks_;
    NcclRows& result_;
};

}  // namespace

std::string NcclRow::channels() const {
    auto const& channels = rule->choose.params.channels;
    return channels ? fmt::format("{}", *channels) : "-1";
}

NcclRows nccl_rows(TuningTable const& table, Slice const& slice, bool every_rank, bool chunks) {
    Selection selection = select_rules(table, "nccl", slice, {.nodes = true, .pipe_ops = true});
    NcclRows result{{}, std::move(selection.lost)};
    Rows rows(every_rank, chunks, result);
    for (Carried const& one : selection.rules) {
        if (!one.keeps_default()) {
            rows.add(one);
        }
    }
    result.lost = in_order(std::move(result.lost), table);
    return result;
}

}  // namespace dlmb::tuning
