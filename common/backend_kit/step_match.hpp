// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Which steps of different ranks belong together. StepIds are a rank's own; what all ranks count alike is "the third
// collective of this group" and "the second send from 3 to 5 on channel 0", in plan order.
#pragma once

#include "common/formats/plan/plan.hpp"

#include <compare>
#include <vector>

namespace dlmb {

struct StepMatch {
    std::vector<Rank> members = {};  // of a collective step's group (world ranks); empty for Send and Recv
    Rank from = -1;                  // of Send and Recv (world ranks)
    Rank to = -1;
    int channel = 0;
    std::uint32_t occurrence = 0;
    auto operator<=>(StepMatch const&) const = default;  // NOLINT(modernize-use-nullptr): false alarm of clang-tidy 14
};

/// By StepId. A Compute step matches nothing and has the default value; all Puts and WaitSignals have one value, for
/// what matches are their signals (signals.hpp).
[[nodiscard]] std::vector<StepMatch> match_steps(Plan const& plan);

/// The same number on all ranks of a step, another one for (almost) every other step: `step` of payload_key.
[[nodiscard]] std::uint32_t step_number(StepMatch const& match);

}  // namespace dlmb
