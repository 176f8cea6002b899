// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// The choices that are forced on all communicators of the process, and the counters.
#pragma once

#include "common/backend_kit/nccl_tuner_control.hpp"

#include <array>
#include <atomic>
#include <cstdint>

namespace dlmb::nccl_tuner {

/// In one word, so that a thread never sees half a choice.
struct Forced {
    std::int16_t algorithm = -1;  // none
    std::int16_t protocol = 0;
    std::int32_t channels = 0;
};
static_assert(std::atomic<Forced>::is_always_lock_free);

inline std::array<std::atomic<Forced>, function_count> forced{};  // by Function
inline std::atomic<bool> forcing{false};                          // any
inline std::atomic<std::uint64_t> calls{0};
inline std::atomic<std::uint64_t> honoured{0};
inline std::atomic<std::uint64_t> refused{0};

}  // namespace dlmb::nccl_tuner
