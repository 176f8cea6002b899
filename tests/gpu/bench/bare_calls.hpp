// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// What a program that needs no benchmark calls for the traffic of a plan: for each step, or run of messages, one call
// of NCCL or one group of sends and receives.
#pragma once

#include "common/backend_kit/backend.hpp"
#include "tests/gpu/bench/bare_loop.hpp"

namespace dlmb::benchmark {

enum class BareExchange { grouped, native };

/// Of plans without computations whose groups are the world; throws Error for others. Addresses are taken now.
[[nodiscard]] BareLoop::Call bare_calls(Plan const& plan, Buffers const& buffers, BareExchange exchange);

}  // namespace dlmb::benchmark
