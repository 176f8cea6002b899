// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// The names of element types that people write: ours, C's and those of OSU and nccl-tests.
#pragma once

#include "common/plan/plan.hpp"

#include <optional>
#include <string_view>

namespace dlmb {

/// What an option's help says of them.
inline constexpr char const* element_names =
    "byte (uint8, int8, char), int32 (int), int64, fp8 (fp8e4m3), fp16 (half), bf16 (bfloat16), fp32 (float), "
    "fp64 (double)";

/// Nothing for a name that is not in element_names.
[[nodiscard]] std::optional<Element> element_named(std::string_view name);

}  // namespace dlmb
