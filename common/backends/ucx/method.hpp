// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// A method decides the order of a step's messages and how many are in flight at once. Each has a file of its own.
#pragma once

#include "common/backends/ucx/lane.hpp"

#include <optional>

namespace dlmb::ucx {

struct Method {
    MethodInfo info;
    /// Orders the transfers of one step and sets its windows. The knob is empty when the user gave none.
    void (*arrange)(LanePlan& lane, std::optional<std::size_t> max_outstanding);
};

/// What becomes one lane of messages.
inline constexpr OperationSet arranged_operations{OperationKind::exchange, OperationKind::all_gather,
                                                  OperationKind::send, OperationKind::recv};

[[nodiscard]] Method linear();
[[nodiscard]] Method pairwise();

/// Rank r's first message goes to r + 1, the second to r + 2 ...: no rank is hit by all others at once.
void rotate_by_rank(LanePlan& lane);

/// "max_outstanding" of a choice. Throws UsageError for any other knob and for what is no positive number.
[[nodiscard]] std::optional<std::size_t> max_outstanding_of(MethodChoice const& choice);

}  // namespace dlmb::ucx
