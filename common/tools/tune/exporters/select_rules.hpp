// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// The rules of a table that concern one consumer, reduced to what all formats share: ranks and bytes; and the calls of
// MPI that they are about. What falls out on the way is lost, with its reason.
#pragma once

#include "common/base/names/operations.hpp"
#include "common/tools/tune/exporters/export.hpp"

#include <array>
#include <optional>
#include <vector>

namespace dlmb::tuning {

/// A rule inside an export.
struct ExportedRule {
    Rule const* rule = nullptr;
    CountInterval ranks;
    ByteInterval bytes;  // native basis
    /// The library's own choice: nothing to write, but known to be measured.
    [[nodiscard]] bool keeps_default() const { return rule->choose.keeps_default(); }
};

/// Notes that a rule is lost. Returns nothing, for callers who had something of it to return.
std::nullopt_t lose(std::vector<Lost>& lost, ExportedRule const& one, LostReason why, std::string detail);

struct Selection {
    std::vector<ExportedRule> rules;  // in the order of the table
    std::vector<Lost> lost;
};

/// The rules in scope `backend` that hold in the slice, which limits a distinguished key only where it says it. Rules
/// of scope "select" that choose another backend are lost, those of another slice for that reason.
[[nodiscard]] Selection select_rules(TuningTable const& table, std::string_view backend, Slice const& slice,
                                     DistinguishedKeys keys);

/// Rules that hold for the same ranks; in a valid table their bytes are disjoint.
struct RankSegment {
    CountInterval ranks;
    std::vector<ExportedRule> rules;  // by bytes, of these ranks
};

/// Cuts the ranks at every bound of a rule. Ascending; ranks without a rule are in no segment.
[[nodiscard]] std::vector<RankSegment> rank_segments(std::vector<ExportedRule> const& rules);

/// One ExportedRule per number of ranks, for formats whose size unit depends on it. Rules of more than 64 numbers are
/// lost.
[[nodiscard]] std::vector<ExportedRule> split_ranks(std::vector<ExportedRule> const& rules, std::vector<Lost>& lost);

/// The rows of a consumer's file for some numbers of ranks.
template <class Row>
struct RowsByRanks {
    CountInterval ranks;
    std::vector<Row> rows;  // by bytes, disjoint
};

/// `row_of`: what a file says for one rule, or nothing where the rule is lost. Ascending; none is without rows.
template <class Row, class RowOf>
[[nodiscard]] std::vector<RowsByRanks<Row>> rows_by_ranks(std::vector<ExportedRule> const& rules, RowOf row_of) {
    std::vector<RowsByRanks<Row>> all;
    for (RankSegment const& segment : rank_segments(rules)) {
        RowsByRanks<Row> of_ranks{segment.ranks, {}};
        for (ExportedRule const& one : segment.rules) {
            if (std::optional<Row> row = row_of(one)) {
                of_ranks.rows.push_back(std::move(*row));
            }
        }
        if (!of_ranks.rows.empty()) {
            all.push_back(std::move(of_ranks));
        }
    }
    return all;
}

/// The rules' order in the table, each reason once: rules that were cut into pieces lose each piece.
[[nodiscard]] std::vector<Lost> in_order(std::vector<Lost> lost, TuningTable const& table);

/// [ceil(min / n), floor(max / n)]: sizes per rank whose n-fold lies in `bytes`; nullopt: there is none. Throws
/// UsageError for n = 0.
[[nodiscard]] std::optional<ByteInterval> per_rank(ByteInterval bytes, std::uint64_t n);

/// The calls of MPI that tuning files speak of. A reduce_scatter is MPI_Reduce_scatter_block: that is what was
/// measured.
inline constexpr std::array exported_calls{MpiCall::allgather, MpiCall::allreduce, MpiCall::alltoall,
                                           MpiCall::alltoallv, MpiCall::bcast,     MpiCall::reduce_scatter_block};

/// The call that a rule can steer. An exchange of equal blocks is MPI_Alltoall, any other MPI_Alltoallv. Nothing: none.
[[nodiscard]] std::optional<MpiCall> collective_of(When const& when);

/// The rules of one call. Those whose bytes the library does not see (alltoallv) come back as one choice for all sizes
/// where it wins or ties at every measured one; this is noted in `lost`, whichever way it went.
[[nodiscard]] std::vector<ExportedRule> rules_of(MpiCall collective, std::vector<ExportedRule> const& rules,
                                                 std::vector<Lost>& lost);

/// Notes the rules that choose something for what is no collective of MPI.
void lose_other_operations(std::vector<ExportedRule> const& rules, std::vector<Lost>& lost);

/// The name of a collective in UCC_TL_UCP_TUNE.
[[nodiscard]] std::string_view name_in_ucc(MpiCall collective);

// Ids and names of the algorithms of Open MPI's coll/tuned, by version. Source: the MPI_T enums coll_tuned_*_algorithm
// of 4.1.4 (ompi_info --param coll tuned --level 9), coll_tuned_*_decision.c of 5.0.8.

/// COLLID of a rules file (coll_base_functions.h, COLLTYPE).
[[nodiscard]] int open_mpi_id(MpiCall collective);
/// Nothing: this version has no such algorithm.
[[nodiscard]] std::optional<int> open_mpi_id(MpiCall collective, std::string_view algorithm, LibraryVersion version);
/// Empty, or why the algorithm does not run for some of these numbers of ranks. coll/tuned returns an error or runs
/// another one without saying so.
[[nodiscard]] std::string_view open_mpi_obstacle(std::string_view algorithm, CountInterval ranks);

}  // namespace dlmb::tuning
