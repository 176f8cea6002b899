// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Elements and reductions of plans in NCCL's terms.
#pragma once

#include "common/plan/plan.hpp"

#include <nccl.h>

#include <optional>

namespace dlmb::nccl {

/// Throws for fp8 where fp8_type() is nothing.
[[nodiscard]] ncclDataType_t type_of(Element element);
[[nodiscard]] ncclRedOp_t operation_of(Reduction reduction);

/// E4M3; nothing where the library has no such type (before 2.24). fp8_native.cpp or fp8_absent.cpp defines it; CMake
/// picks one.
[[nodiscard]] std::optional<ncclDataType_t> fp8_type();

}  // namespace dlmb::nccl
