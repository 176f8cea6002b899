// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// NCCL before 2.24.
#include "common/backends/nccl/translate.hpp"

namespace dlmb::nccl {

std::optional<ncclDataType_t> fp8_type() {
    return std::nullopt;
}

}  // namespace dlmb::nccl
