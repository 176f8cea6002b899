// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Replaces the global operator new of the test program by one that counts.
#pragma once

#include <cstdint>

namespace dlmb::in_process::testing {

[[nodiscard]] std::uint64_t allocations_of_this_thread();

}  // namespace dlmb::in_process::testing
