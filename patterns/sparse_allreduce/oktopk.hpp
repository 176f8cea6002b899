// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Ok-Topk (Li, Hoefler, PPoPP 2022, arXiv 2201.07598), the part of a rank: pure functions between its messages.
//
//   select(gradients)           the local picks: exactly k where the threshold is estimated, else those above it
//   equal_count_bounds(picks)   the bounds of regions that hold equal counts of this rank's picks
//   regions_of(sum of bounds)   the mean over all ranks: region r belongs to rank r
//   part_of(picks, region)      goes to the owner, who adds up what it gets with sum_of()
//   (of its sums the owner keeps the global top k, or those above the global threshold)
//   even_parts(counts)          how kept entries move before the gather
//
// Between two estimates a threshold is corrected by a small factor when it lets too few or too many pass.
#pragma once

#include "patterns/sparse_allreduce/params.hpp"
#include "patterns/sparse_allreduce/sparse_vector.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace dlmb::sparse_allreduce {

/// Thresholds of one rank, from one iteration to the next.
struct Thresholds {
    double local = 0;
    double global = 0;
    bool operator==(Thresholds const&) const = default;
};

[[nodiscard]] bool estimates(Params const& params, std::uint32_t iteration);
[[nodiscard]] bool partitions(Params const& params, std::uint32_t iteration);

[[nodiscard]] SparseVector select(Params const& params, bool estimate, std::span<SparseEntry const> gradients,
                                  Thresholds& thresholds);

/// ranks - 1 indices.
[[nodiscard]] std::vector<std::uint64_t> equal_count_bounds(Params const& params, std::span<SparseEntry const> picks);

/// ranks + 1 indices, from 0 to `elements`: region r is [bounds[r], bounds[r + 1]).
using Regions = std::vector<std::uint64_t>;
/// `sums`: of equal_count_bounds() over all ranks.
[[nodiscard]] Regions regions_of(Params const& params, std::span<std::uint64_t const> sums);
[[nodiscard]] Regions equal_width_regions(Params const& params);

/// After the result is known on all ranks, alike on all.
void correct_global(Params const& params, bool estimate, std::span<SparseEntry const> result, Thresholds& thresholds);

/// The entries [first, first + count) of all ranks' parts, one behind the other, move.
struct EntryMove {
    std::size_t from = 0;
    std::size_t to = 0;
    std::size_t first = 0;
    std::size_t count = 0;
    bool operator==(EntryMove const&) const = default;
};
/// None where the largest part is at most params.balance_above times the mean. By `from`, then `to`.
[[nodiscard]] std::vector<EntryMove> even_parts(Params const& params, std::span<std::size_t const> counts);

}  // namespace dlmb::sparse_allreduce
