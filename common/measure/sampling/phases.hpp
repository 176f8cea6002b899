// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// The time of each phase of an iteration, and which phase took longest. From the marks of an iteration: a step costs
// the time since the previous mark, a phase the sum over its steps. Where steps overlap, that is the time by which they
// moved this rank's completion forward.
#pragma once

#include "common/backend_kit/backend.hpp"
#include "common/formats/record/cell_result.hpp"

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace dlmb::measure {

/// Time of a phase that an iteration does not have; below every duration, so that a maximum over ranks drops it.
inline constexpr Nanoseconds no_such_phase = -1;

class PhaseMap {
public:
    /// Collective. Phases of all draws of all ranks, in plan order, rank 0's first.
    PhaseMap(Bootstrap& bootstrap, std::span<Plan const> plans);

    [[nodiscard]] std::vector<std::string> const& labels() const { return labels_; }
    /// One entry per label, on this rank, in draw `draw`: into `took` what each phase took, into `ended` the time from
    /// `t_enter` to its last mark. Allocates nothing.
    void times(std::size_t draw, std::span<PhaseMark const> marks, Nanoseconds t_enter, Nanoseconds t_done,
               std::span<Nanoseconds> took, std::span<Nanoseconds> ended) const;

private:
    std::vector<std::string> labels_;
    std::vector<std::vector<std::size_t>> phase_of_step_;  // [draw][step]
};

/// The phase that took longest most often, the earliest of several. `samples`: [sample * labels + label], no_such_phase
/// where a sample has none of that label. None without samples.
[[nodiscard]] std::optional<record::CriticalPhase> critical_phase(std::span<std::string const> labels,
                                                                  std::span<Nanoseconds const> samples);

}  // namespace dlmb::measure
