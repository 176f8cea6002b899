// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Iterations of a trace: those that it marks, those that a user says, or a sequence of operations that all ranks
// repeat.
#pragma once

#include "common/tools/plan/trace.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace dlmb::trace {

/// A sequence that each rank repeats without a gap: equal in kinds, groups, types, peers and roots, with sizes if that
/// repeats, too.
struct Repetition {
    struct Part {
        std::size_t first = 0;  // operation
        std::size_t length = 0;
    };
    int times = 0;            // 0: none that makes up half of the operations of each rank
    std::string text;         // what was found, for a user
    std::vector<Part> parts;  // of each program
};
[[nodiscard]] Repetition find_repetition(Trace const& trace);

/// How many iterations the trace has, the same on all ranks.
struct Iterations {
    int count = 0;      // 0: none
    std::string found;  // text of the repetition, where that was looked for
};

/// Gives operations to iterations: to `assumed` ones of equal length at its end, else to those that the trace marks,
/// else to a repetition. What lies outside is given to none. Throws UsageError where ranks differ, or do not repeat
/// their operations so often as is assumed.
[[nodiscard]] Iterations find_iterations(Trace& trace, std::optional<int> assumed);

}  // namespace dlmb::trace
