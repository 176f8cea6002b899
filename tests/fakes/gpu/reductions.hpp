// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <nccl.h>

#include <cstddef>

namespace dlmb::fake_gpu {

/// into = into (reduction) operand, as host_reduce does it.
void reduce_elements(std::byte* into, std::byte const* operand, std::size_t bytes, ncclDataType_t type,
                     ncclRedOp_t reduction);

}  // namespace dlmb::fake_gpu
