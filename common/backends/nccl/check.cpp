// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/backends/nccl/check.hpp"

#include <fmt/core.h>

namespace dlmb::nccl {

void check(ncclResult_t code, std::string_view call, Where where) {
    if (code != ncclSuccess && code != ncclInProgress) {
        throw Error(fmt::format("{}: {} ({})", call, ncclGetErrorString(code), ncclGetLastError(nullptr)), where);
    }
}

}  // namespace dlmb::nccl
