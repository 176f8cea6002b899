// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace dlmb::fake_gpu {

/// False also for a process that ended and that nobody waited for yet.
[[nodiscard]] bool is_running(int process);

}  // namespace dlmb::fake_gpu
