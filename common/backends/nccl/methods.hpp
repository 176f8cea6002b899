// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// The methods of nccl and their knobs.
#pragma once

#include "common/backends/nccl/algorithm_choice.hpp"

#include <optional>

namespace dlmb::nccl {

struct Method {
    bool all_to_all = false;                   // exchanges by ncclAlltoAll
    bool graph = false;                        // the iteration is captured and replayed
    bool registered = false;                   // the plan's buffers are registered
    std::optional<AlgorithmChoice> algorithm;  // of the library, for its collectives
    bool falls_back = false;  // exchanges that ncclAlltoAll does not take are grouped when the plan holds more
};

[[nodiscard]] std::span<MethodInfo const> method_table();
/// Those that need no knob.
[[nodiscard]] std::span<MethodInfo const> plain_methods();
/// Throws UsageError for an unknown method, knob or value.
[[nodiscard]] Method read_method(MethodChoice const& choice);

}  // namespace dlmb::nccl
