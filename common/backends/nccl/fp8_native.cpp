// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// NCCL 2.24 and later.
#include "common/backends/nccl/translate.hpp"

namespace dlmb::nccl {

std::optional<ncclDataType_t> fp8_type() {
    return ncclFloat8e4m3;
}

}  // namespace dlmb::nccl
