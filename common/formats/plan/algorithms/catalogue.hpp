// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// The algorithms by name: those of the methods of backend ucx, of which the simulator of predictions takes the same.
#pragma once

#include "common/formats/plan/algorithms/algorithms.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace dlmb::algorithms {

/// "auto", "ring", "knomial" ...; nullptr: there is none of this name that does the operation.
[[nodiscard]] Algorithm find(std::string_view name, OperationKind kind);

/// The names that find() knows for an operation.
[[nodiscard]] std::vector<std::string> names_for(OperationKind kind);

/// A step of a plan as an algorithm sees it, and where its buffers lie.
struct ShapedStep {
    Shape shape;
    Reduction reduction = Reduction::sum;
    GroupId group = 0;
    Region input;  // of Space::input; of no meaning where nothing moves
    Region output;
};

/// Nothing for steps that are no collective, and for an exchange whose blocks are not equal and packed. Throws Error
/// where the plan's rank is not in the group.
[[nodiscard]] std::optional<ShapedStep> shaped_step(Plan const& plan, Operation const& operation);

}  // namespace dlmb::algorithms
