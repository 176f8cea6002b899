// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// The catalogue of schedules in two parts, and the rounds that they share: exchanges between all ranks (exchanges.cpp),
// and trees from one rank to all others and back (trees.cpp).
//
// Sources: Thakur, Rabenseifner, Gropp, "Optimization of Collective Communication Operations in MPICH", 2005; Bruck et
// al., "Efficient algorithms for all-to-all communications", 1997; Chan et al., "Collective communication: theory,
// practice, and experience", 2007; the orders of partners as Open MPI 4.1 has them.
#pragma once

#include "common/tools/predict/schedule.hpp"

#include <functional>
#include <span>

namespace dlmb::predict {

using Rounds = std::vector<Round>;

struct ScheduleRow {
    Collective collective;
    std::string_view algorithm;
    double temporary;  // bytes of temporary memory over those of the vector, at the rank that needs the most
    Rounds (*rounds)(int ranks);
    Rounds (*on_torus)(Extents const& extents) = nullptr;
};
[[nodiscard]] std::span<ScheduleRow const> exchange_schedules();
[[nodiscard]] std::span<ScheduleRow const> tree_schedules();

/// The largest power of two that is not above `ranks`.
[[nodiscard]] int floor_power(int ranks);
[[nodiscard]] Rounds then(Rounds rounds, Rounds more);
/// The same messages backwards, the last round first.
[[nodiscard]] Rounds reversed(Rounds rounds);
/// In each round the busiest rank reduces this share.
[[nodiscard]] Rounds reducing(Rounds rounds, double share);
/// For each distance from 1 to P - 1, or for 64 of them: use(distance, for how many distances it stands).
void for_distances(int ranks, std::function<void(int, double)> const& use);

[[nodiscard]] Rounds doubling_allgather(int ranks);
[[nodiscard]] Rounds ring(int ranks, bool reduces);
/// Halves the vector with the nearest partner first, and brings the parts to rank 0.
[[nodiscard]] Rounds halving_reduce(int ranks);

/// From rank 0 to every other rank at once.
[[nodiscard]] Rounds star(int ranks, double share);
[[nodiscard]] Rounds star_up(int ranks);
/// All to rank 0, and a broadcast down a binary tree in segments.
[[nodiscard]] Rounds gather_bcast(int ranks);

}  // namespace dlmb::predict
