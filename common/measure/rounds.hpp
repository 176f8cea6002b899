// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// What a round is: in which order it visits its cells, and which cells get no more rounds. Pure functions; the runner
// calls them between rounds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace dlmb::measure {

/// A permutation of 0 .. count-1, a function of its arguments alone.
[[nodiscard]] std::vector<std::size_t> round_order(std::size_t count, std::uint64_t seed, std::uint64_t round);

/// A cell after some rounds.
struct CellSoFar {
    std::span<double const> round_medians_ns;  // one per round so far; none: it is not compared (any more)
    std::size_t group = 0;                     // only cells of one group are compared: those of one backend
    bool may_drop = true;                      // false: the default of its backend, or a cell that has all its samples
};

struct Dropped {
    std::size_t index = 0;    // among the cells
    double times_slower = 1;  // median of its rounds over that of the best of its group
    bool operator==(Dropped const&) const = default;
};

/// Cells of the slower half of their group whose fastest round is more than `factor` times the slowest round of the
/// group's best. It takes two rounds at least: one slow minute of the machine is not enough.
[[nodiscard]] std::vector<Dropped> cells_to_drop(std::span<CellSoFar const> cells, double factor);

}  // namespace dlmb::measure
