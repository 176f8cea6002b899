// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// The project's kernels by name, done on the host.
#pragma once

#include "tests/fakes/gpu/queue.hpp"

#include <string_view>

namespace dlmb::fake_gpu {

/// `arguments` points at the kernel's arguments, in order; they are copied. Ends the process for a name without a host
/// version.
[[nodiscard]] Work kernel(std::string_view name, void* const* arguments);

}  // namespace dlmb::fake_gpu
