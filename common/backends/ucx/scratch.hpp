// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Memory of the algorithms of a plan. Steps that follow each other share it; steps that may run side by side do not.
#pragma once

#include "common/plan/plan.hpp"

#include <vector>

namespace dlmb::ucx {

struct ScratchLayout {
    std::vector<Bytes> offsets;  // by StepId
    Bytes bytes = 0;
};

/// `needed`: bytes by StepId.
[[nodiscard]] ScratchLayout lay_out_scratch(Plan const& plan, std::vector<Bytes> const& needed);

}  // namespace dlmb::ucx
