// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// What a test can change through the environment; README.md lists the variables.
#pragma once

#include <cstddef>
#include <string_view>

namespace dlmb::fake_gpu {

inline constexpr int default_devices = 8;
inline constexpr std::size_t device_bytes = std::size_t{8} << 30;  // of each device

/// DLMB_FAKE_GPU_DEVICES. Throws nothing: a value that is no number ends the process.
[[nodiscard]] int device_count();
/// DLMB_FAKE_NCCL_VERSION, as ncclGetVersion tells it. Read at every call, as the next one: a test changes them.
[[nodiscard]] int nccl_version();
/// DLMB_FAKE_NCCL_QUESTIONS: how often the state of a non-blocking communicator is asked for until it goes on.
[[nodiscard]] int questions_until_done();
/// DLMB_FAKE_NCCL_ASKS_TUNER=0: collectives are done without asking the tuner plugin.
[[nodiscard]] bool asks_tuner();
/// DLMB_FAKE_NCCL_ONE_SIDED=no: as where GPUs have no way to each other's memory. =overtaken: a signal arrives before
/// its payload, which comes with the next put or signal of that rank.
[[nodiscard]] bool has_one_sided_calls();
[[nodiscard]] bool signals_overtake();
/// DLMB_FAKE_GPU_PROTECT=1: the program itself cannot read or write device memory, as on a machine with a GPU.
[[nodiscard]] bool memory_is_protected();

/// DLMB_FAKE_NCCL_HANGS=CALL:N: the call of this name that is the Nth of the process, from 1, never returns.
void hang_where_told(std::string_view call);

}  // namespace dlmb::fake_gpu
