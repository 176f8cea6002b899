// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/tuning/exporters/mpi_collective.hpp"

#include <fmt/core.h>

#include <algorithm>

namespace dlmb::tuning {
namespace {

void lose_all(std::vector<Carried> const& winners, std::string const& detail, std::vector<Lost>& lost) {
    for (Carried const& winner : winners) {
        lost.push_back({winner.rule->id, LostReason::size_ignored, detail});
    }
}

/// One choice for all sizes and imbalances of a segment, or nothing.
std::optional<Carried> without_sizes(RankSegment const& segment, std::vector<Lost>& lost) {
    std::vector<Carried> winners;
    std::copy_if(segment.rules.begin(), segment.rules.end(), std::back_inserter(winners),
                 [](Carried const& one) { return !one.keeps_default(); });
    if (winners.empty()) {
        return std::nullopt;
    }
    Carried const& first = winners.front();
    bool const one_choice = std::all_of(segment.rules.begin(), segment.rules.end(), [&](Carried const& one) {
        return one.keeps_default() ? one.rule->status == RuleStatus::tie : one.rule->choose == first.rule->choose;
    });
    if (!one_choice) {
        lose_all(winners,
                 "alltoallv is chosen without its size and imbalance, and no one choice is best at all measured ones",
                 lost);
        return std::nullopt;
    }
    ByteInterval const all{0, no_limit};
    if (first.bytes != all || first.rule->when.imbalance) {
        lose_all(winners,
                 "alltoallv is chosen without its size and imbalance, so this holds for others than were measured, too",
                 lost);
    }
    return Carried{first.rule, segment.ranks, all};
}

}  // namespace

std::string_view name_of(MpiCollective collective) {
    switch (collective) {
    case MpiCollective::allgather:
        return "allgather";
    case MpiCollective::allreduce:
        return "allreduce";
    case MpiCollective::alltoall:
        return "alltoall";
    case MpiCollective::alltoallv:
        return "alltoallv";
    case MpiCollective::bcast:
        return "bcast";
    case MpiCollective::reduce_scatter_block:
        break;
    }
    return "reduce_scatter_block";
}

std::optional<MpiCollective> collective_of(When const& when) {
    switch (when.operation) {
    case TunedOperation::allreduce:
        return MpiCollective::allreduce;
    case TunedOperation::reduce_scatter:
        return MpiCollective::reduce_scatter_block;
    case TunedOperation::allgather:
        return MpiCollective::allgather;
    case TunedOperation::broadcast:
        return MpiCollective::bcast;
    case TunedOperation::exchange:
        return when.uniform.value_or(false) ? MpiCollective::alltoall : MpiCollective::alltoallv;
    case TunedOperation::sendrecv:
        break;
    }
    return std::nullopt;
}

std::vector<Carried> rules_of(MpiCollective collective, std::vector<Carried> const& rules, std::vector<Lost>& lost) {
    std::vector<Carried> mine;
    std::copy_if(rules.begin(), rules.end(), std::back_inserter(mine),
                 [&](Carried const& one) { return collective_of(one.rule->when) == collective; });
    if (collective != MpiCollective::alltoallv) {
        std::erase_if(mine, [](Carried const& one) { return one.keeps_default(); });
        return mine;
    }
    for (Carried const& one : mine) {
        if (!one.rule->when.uniform && !one.keeps_default()) {
            lost.push_back({one.rule->id, LostReason::key_not_expressible,
                            "holds for every exchange, but equal blocks sent by MPI_Alltoall keep the default; give "
                            "them a rule of their own ('uniform': true)"});
        }
    }
    std::vector<Carried> without;
    for (RankSegment const& segment : rank_segments(mine)) {
        if (auto const one = without_sizes(segment, lost)) {
            without.push_back(*one);
        }
    }
    return without;
}

void lose_other_operations(std::vector<Carried> const& rules, std::vector<Lost>& lost) {
    for (Carried const& one : rules) {
        if (!collective_of(one.rule->when) && !one.keeps_default()) {
            lost.push_back({one.rule->id, LostReason::operation_not_tunable,
                            fmt::format("{} is no collective", name_of(one.rule->when.operation))});
        }
    }
}

}  // namespace dlmb::tuning
