// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Which functions of the CUDA runtime and NCCL a thread calls, for tests that compare two pieces of code by their
// calls. What a call costs the double does not know; how many there are it does.
#pragma once

#include <string_view>

namespace dlmb::fake_gpu {

/// A line of this thread's log, where dlmb_fake_gpu_log_calls() began one: "cudaEventRecord timed".
void note_call(std::string_view call, std::string_view detail = "");

}  // namespace dlmb::fake_gpu

/// Begins a new log of the calling thread.
extern "C" void dlmb_fake_gpu_log_calls();
/// Ends it: its lines, in order. Valid until the thread begins another one.
extern "C" char const* dlmb_fake_gpu_logged_calls();
