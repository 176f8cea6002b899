// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Memory of the algorithms of a plan. Steps that follow each other share it; steps that may run side by side do not.
#pragma once

#include "common/memory/memory_space.hpp"
#include "common/plan/plan.hpp"

#include <vector>

namespace dlmb::ucx {

struct ScratchLayout {
    std::vector<Bytes> offsets;  // by StepId
    Bytes bytes = 0;
};

/// `needed`: bytes by StepId.
[[nodiscard]] ScratchLayout lay_out_scratch(Plan const& plan, std::vector<Bytes> const& needed);

/// Memory that UCX takes for what `kind` is: all messages of a plan name one memory type. Throws Error.
[[nodiscard]] Allocation allocate_scratch(MemoryKind kind, Bytes bytes);

}  // namespace dlmb::ucx
