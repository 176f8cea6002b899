// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Memory that the CUDA runtime knows, by kind.
#pragma once

#include "common/memory/memory_space.hpp"

namespace dlmb {

/// pinned, managed or cuda. Pinned memory lies on the NUMA node of the device in use, where the system says which.
/// Throws Error with the size and the kind.
[[nodiscard]] Allocation allocate_cuda(MemoryKind kind, Bytes bytes);

}  // namespace dlmb
