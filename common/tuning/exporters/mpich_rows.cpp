// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/tuning/exporters/mpich_rows.hpp"

#include "common/tuning/size_basis.hpp"

#include <fmt/core.h>

#include <bit>
#include <optional>

namespace dlmb::tuning {
namespace {

SizeUnit unit_of_key(MpiCollective collective, TunedOperation operation) {
    bool const average = mpich_size_key(collective) == "avg_msg_size";
    return unit_of(average ? SizeConsumer::mpich_average : SizeConsumer::mpich_total, operation, true);
}

class MpichTranslation {
public:
    MpichTranslation(MpiCollective collective, MpichInfo const& info, std::vector<Lost>& lost)
        : collective_(collective), info_(info), lost_(lost) {}

    std::optional<MpichRow> row(Carried const& one, CountInterval ranks) {
        Choice const& choose = one.rule->choose;
        if (!choose.algorithm || choose.algorithm->family != "mpich") {
            return lose(one, LostReason::unknown_algorithm,
                        fmt::format("method '{}' is no algorithm of MPICH", choose.method));
        }
        MpichAlgorithm const* const algorithm = mpich_algorithm(collective_, choose.algorithm->name);
        if (algorithm == nullptr || !info_.algorithms.contains(std::string(algorithm->leaf))) {
            return lose(one, LostReason::unknown_algorithm,
                        fmt::format("{} of {} is not known in {}, or not safe to choose by size",
                                    choose.algorithm->name, name_of(collective_), info_.origin));
        }
        if (algorithm->guard == MpichGuard::power_of_two &&
            !(ranks.min == ranks.max && std::has_single_bit(ranks.min))) {
            return lose(one, LostReason::unknown_algorithm,
                        fmt::format("{} runs for powers of two only", choose.algorithm->name));
        }
        if (choose.params != ChoiceParams{}) {
            return lose(one, LostReason::key_not_expressible, "a leaf of the tree takes no parameters");
        }
        return with_sizes(one, ranks, algorithm);
    }

private:
    std::optional<MpichRow> lose(Carried const& one, LostReason why, std::string detail) {
        lost_.push_back({one.rule->id, why, std::move(detail)});
        return std::nullopt;
    }

    std::optional<MpichRow> with_sizes(Carried const& one, CountInterval ranks, MpichAlgorithm const* algorithm) {
        if (mpich_size_key(collective_).empty()) {
            return MpichRow{one.bytes, algorithm};
        }
        auto bytes = to_unit(unit_of_key(collective_, one.rule->when.operation), one.bytes, ranks.min);
        if (!bytes) {
            return std::nullopt;  // no size of n equal shares lies in the rule
        }
        if (one.bytes.max == no_limit) {
            bytes->max = no_limit;
        }
        if (bytes->min > mpich_most) {
            return lose(one, LostReason::range_limit, "begins above 2147483647, the largest number of the format");
        }
        if (bytes->max > mpich_most && bytes->max != no_limit) {
            lose(one, LostReason::range_limit,
                 "sizes above 2147483647, the largest number of the format, keep the default");
            bytes->max = mpich_most;
        }
        return MpichRow{*bytes, algorithm};
    }

    MpiCollective collective_;
    MpichInfo const& info_;
    std::vector<Lost>& lost_;
};

}  // namespace

std::string_view mpich_size_key(MpiCollective collective) {
    switch (collective) {
    case MpiCollective::allreduce:
    case MpiCollective::alltoall:
    case MpiCollective::bcast:
        return "avg_msg_size";
    case MpiCollective::allgather:
    case MpiCollective::reduce_scatter_block:
        return "total_msg_size";
    case MpiCollective::alltoallv:
        break;
    }
    return "";
}

std::vector<MpichComm> mpich_rows(MpiCollective collective, std::vector<Carried> const& rules, MpichInfo const& info,
                                  std::vector<Lost>& lost) {
    bool const by_rank = collective == MpiCollective::alltoall;  // its average is per peer
    MpichTranslation translation(collective, info, lost);
    std::vector<MpichComm> comms;
    for (RankSegment const& segment : rank_segments(by_rank ? split_ranks(rules, lost) : rules)) {
        MpichComm comm{segment.ranks, {}};
        for (Carried const& one : segment.rules) {
            if (segment.ranks.min > mpich_most) {
                lost.push_back({one.rule->id, LostReason::range_limit, "more ranks than the format can say"});
            } else if (auto const row = translation.row(one, segment.ranks)) {
                comm.rows.push_back(*row);
            }
        }
        if (!comm.rows.empty()) {
            comms.push_back(std::move(comm));
        }
    }
    return comms;
}

}  // namespace dlmb::tuning
