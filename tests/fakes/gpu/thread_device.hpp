// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// The device that the calling thread uses: cudaSetDevice's.
#pragma once

namespace dlmb::fake_gpu {

[[nodiscard]] int thread_device();
void set_thread_device(int device);

}  // namespace dlmb::fake_gpu
