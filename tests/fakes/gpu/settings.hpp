// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// What a test can change through the environment; README.md lists the variables.
#pragma once

#include <cstddef>

namespace dlmb::fake_gpu {

inline constexpr int default_devices = 8;
inline constexpr std::size_t device_bytes = std::size_t{8} << 30;  // of each device

/// DLMB_FAKE_GPU_DEVICES. Throws nothing: a value that is no number ends the process.
[[nodiscard]] int device_count();
/// DLMB_FAKE_GPU_PROTECT=1: the program itself cannot read or write device memory, as on a machine with a GPU.
[[nodiscard]] bool memory_is_protected();

}  // namespace dlmb::fake_gpu
