// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// What a real GPU or NCCL would punish with a crash, a hang or wrong data ends the process here, with one line.
#pragma once

#include <string>

namespace dlmb::fake_gpu {

[[noreturn]] void wrong_use(std::string const& what);

}  // namespace dlmb::fake_gpu
