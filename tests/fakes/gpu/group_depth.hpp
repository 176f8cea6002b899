// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// How many ncclGroupStart of this thread have had no ncclGroupEnd yet.
#pragma once

namespace dlmb::fake_gpu {

[[nodiscard]] int& group_depth();
/// Ends the process: the caller would wait for operations that the open group keeps back.
void require_no_open_group(char const* call);

}  // namespace dlmb::fake_gpu
