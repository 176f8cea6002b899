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
struct Standing {
    std::span<double const> round_medians_ns;  // one per round so far; none: it is not in the contest (any more)
    std::size_t league = 0;                    // only cells of one league are compared: those of one backend
    bool may_go = true;                        // false: the default of its backend, or a cell that has all its samples
};

struct Hopeless {
    std::size_t index = 0;    // among the standings
    double times_slower = 1;  // median of its rounds over that of the best of its league
    bool operator==(Hopeless const&) const = default;
};

/// Cells of the slower half of their league whose fastest round is more than `factor` times the slowest round of the
/// league's best. It takes two rounds at least: one slow minute of the machine is not enough.
[[nodiscard]] std::vector<Hopeless> hopeless(std::span<Standing const> standings, double factor);

}  // namespace dlmb::measure
