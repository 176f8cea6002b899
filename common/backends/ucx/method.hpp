// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// A method is a way to do some operations: an order and a window for the messages of one step, or an algorithm of
// several rounds. Each has a file of its own, here or in common/backend_kit/algorithms.
#pragma once

#include "common/backend_kit/algorithms/algorithms.hpp"
#include "common/backends/ucx/lane.hpp"
#include "common/backends/ucx/settings.hpp"
#include "common/backends/ucx/window_use.hpp"

#include <optional>
#include <span>
#include <string_view>

namespace dlmb::ucx {

/// What a user may set; each method lists in MethodInfo::knobs which ones it reads.
struct Knobs {
    std::optional<std::size_t> max_outstanding;
    algorithms::Knobs algorithm;
    std::optional<WindowCopies> window_copies;
    std::optional<Bytes> messages_from;
    ContextSettings context;
};

/// Whether steps whose ranks share memory are done there by loads and stores.
enum class InSharedMemory { never, where_faster, always };

struct Method {
    MethodInfo info;
    /// Orders the transfers of one step and sets its windows; nullptr: the method is an algorithm.
    void (*arrange)(LanePlan& lane, std::optional<std::size_t> max_outstanding) = nullptr;
    /// Steps of this method are micro-steps of this algorithm; nullptr: they are one lane.
    algorithms::Algorithm (*algorithm_for)(OperationKind kind) = nullptr;
    /// Values of its knob, besides the default, that are worth a measurement of their own.
    std::span<std::string_view const> worth_measuring = {};
    InSharedMemory in_shared_memory = InSharedMemory::never;
};

/// What becomes one lane of messages.
inline constexpr OperationSet arranged_operations{OperationKind::exchange, OperationKind::all_gather,
                                                  OperationKind::send, OperationKind::recv};

[[nodiscard]] Method linear();
[[nodiscard]] Method pairwise();

/// Rank r's first message goes to r + 1, the second to r + 2 ...: no rank is hit by all others at once.
void rotate_by_rank(LanePlan& lane);

/// Knobs of every method whose steps are messages: thresholds of a UCX context of its own. As MethodInfo::knobs.
inline constexpr std::string_view context_knobs = "rndv_thresh=SIZE|inf, zcopy_thresh=SIZE|inf";

/// The knobs of a choice of this method. Throws UsageError for a knob that it has not and for a wrong value.
[[nodiscard]] Knobs read_knobs(MethodChoice const& choice, MethodInfo const& info);

}  // namespace dlmb::ucx
