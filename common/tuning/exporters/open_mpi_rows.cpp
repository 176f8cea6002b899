// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/tuning/exporters/open_mpi_rows.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <limits>
#include <utility>

namespace dlmb::tuning {
namespace {

constexpr std::uint64_t most_ranks = std::numeric_limits<int>::max();

class OpenMpiTranslation {
public:
    OpenMpiTranslation(MpiCollective collective, LibraryVersion version, Bytes most_bytes, bool max_requests,
                       std::vector<Lost>& lost)
        : collective_(collective), version_(version), most_bytes_(most_bytes), max_requests_(max_requests),
          lost_(lost) {}

    OpenMpiComm comm(RankSegment const& segment) {
        OpenMpiComm comm{segment.ranks, {}, true};
        for (Carried const& one : segment.rules) {
            if (auto const found = row(one, segment.ranks)) {
                comm.rows.push_back(*found);
                When const& when = one.rule->when;
                comm.single_node = comm.single_node && (when.nodes == CountInterval{1, 1} ||
                                                        when.distribution == Distribution::single_node);
            }
        }
        return comm;
    }

private:
    std::optional<OpenMpiRow> lose(Rule const& rule, LostReason why, std::string detail) {
        lost_.push_back({rule.id, why, std::move(detail)});
        return std::nullopt;
    }

    std::optional<OpenMpiRow> row(Carried const& one, CountInterval ranks) {
        Rule const& rule = *one.rule;
        if (!rule.choose.algorithm || rule.choose.algorithm->family != "open_mpi.tuned") {
            return lose(rule, LostReason::unknown_algorithm,
                        fmt::format("method '{}' is no algorithm of coll/tuned", rule.choose.method));
        }
        std::string const& name = rule.choose.algorithm->name;
        auto const id = open_mpi_id(collective_, name, version_);
        if (!id) {
            return lose(rule, LostReason::unknown_algorithm,
                        fmt::format("coll/tuned {}.{}.{} has no {} for {}", version_.major, version_.minor,
                                    version_.patch, name, name_of(collective_)));
        }
        if (auto const obstacle = open_mpi_obstacle(name, ranks); !obstacle.empty()) {
            return lose(rule, LostReason::unknown_algorithm, fmt::format("{} {}", name, obstacle));
        }
        return with_params(one, {clip(one), *id, name});
    }

    std::optional<OpenMpiRow> with_params(Carried const& one, OpenMpiRow row) {
        ChoiceParams rest = one.rule->choose.params;
        row.fanout = std::exchange(rest.fanout, {}).value_or(0);
        row.segment_bytes = std::exchange(rest.segment_bytes, {}).value_or(0);
        if (max_requests_) {
            row.max_requests = std::exchange(rest.max_requests, {}).value_or(0);
        }
        if (rest != ChoiceParams{}) {
            return lose(*one.rule, LostReason::key_not_expressible, "has parameters that the rules file does not");
        }
        if (row.fanout > most_ranks || row.segment_bytes > most_bytes_ || row.max_requests > most_ranks ||
            row.bytes.min > most_bytes_ || one.ranks.min > most_ranks) {
            return lose(*one.rule, LostReason::range_limit, "is beyond the integers of the format");
        }
        return row;
    }

    /// A range that ends beyond the last number that can be written has no end: no message is that large.
    ByteInterval clip(Carried const& one) const {
        return {one.bytes.min, one.bytes.max >= most_bytes_ ? no_limit : one.bytes.max};
    }

    MpiCollective collective_;
    LibraryVersion version_;
    Bytes most_bytes_;
    bool max_requests_;
    std::vector<Lost>& lost_;
};

}  // namespace

OpenMpiRows open_mpi_rows(TuningTable const& table, Slice const& slice, LibraryVersion version, Bytes most_bytes,
                          bool max_requests) {
    Selection selection = select_rules(table, "mpi", slice, {.imbalance = true});
    OpenMpiRows result;
    lose_other_operations(selection.rules, selection.lost);
    for (MpiCollective const which : every_mpi_collective) {
        auto const rules = rules_of(which, selection.rules, selection.lost);
        OpenMpiTranslation translation(which, version, most_bytes, max_requests, selection.lost);
        OpenMpiCollective collective{which, {}};
        for (RankSegment const& segment : rank_segments(rules)) {
            OpenMpiComm comm = translation.comm(segment);
            comm.ranks.max = comm.ranks.max >= most_ranks ? no_limit : comm.ranks.max;
            if (!comm.rows.empty()) {
                collective.comms.push_back(std::move(comm));
            }
        }
        if (!collective.comms.empty()) {
            result.collectives.push_back(std::move(collective));
        }
    }
    result.lost = in_order(std::move(selection.lost), table);
    return result;
}

}  // namespace dlmb::tuning
