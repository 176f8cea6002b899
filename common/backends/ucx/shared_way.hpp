// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Whether a step is done in shared memory, and how: the choice by operation and size.
#pragma once

#include "common/backend_kit/algorithms/shared_algorithms.hpp"
#include "common/backends/ucx/collective.hpp"
#include "common/backends/ucx/window_use.hpp"

#include <optional>

namespace dlmb::ucx {

struct SharedWay {
    algorithms::SharedPlan plan;
    GroupId group = 0;
    int place = 0;  // of this rank in the group
    std::byte* input = nullptr;
    std::byte* output = nullptr;
    Element element = Element::byte;
    Reduction reduction = Reduction::sum;
    WindowUse use;
    bool has_limit = false;  // use.messages_from holds here: larger blocks of an exchange are messages
};

struct SharedChoice {
    bool always = false;  // the user's; else where it is faster than messages
    Bytes segment = 0;    // 0: the algorithm's own
    WindowUse use;
};

/// Whether the ranks of the step's group can load and store in each other's memory. `sharing`: by world rank.
[[nodiscard]] bool can_share(Plan const& plan, Operation const& operation, MemoryKind kind,
                             std::vector<bool> const& sharing);

/// A step whose ranks can share; nothing where messages are to do it all. Alike on all ranks of the step's group.
[[nodiscard]] std::optional<SharedWay> shared_way(Plan const& plan, Operation const& operation, Buffers const& buffers,
                                                  std::optional<Collective> const& collective, SharedChoice choice);

}  // namespace dlmb::ucx
