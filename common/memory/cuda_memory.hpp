// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// The seam between make_memory_space and everything that needs CUDA. Names no CUDA type, so that the folder cuda/ and
// device_absent.cpp can both define it; CMake picks one.
#pragma once

#include "common/memory/memory_space.hpp"

#include <memory>
#include <string>

namespace dlmb {

/// For pinned, cuda and managed, on the device that this thread uses. nullptr with the reason in `why_not` when this
/// build or machine has none.
[[nodiscard]] std::unique_ptr<MemorySpace> make_cuda_memory_space(MemoryKind kind, std::string& why_not);

/// Device memory that is nobody's payload: scratch of algorithms. Throws Error.
[[nodiscard]] Allocation allocate_on_device(Bytes bytes);

}  // namespace dlmb
