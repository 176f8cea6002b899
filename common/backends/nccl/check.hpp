// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Return codes of NCCL become exceptions, as those of the CUDA runtime do.
#pragma once

#include "common/base/error.hpp"
#include "common/memory/cuda/cuda_check.hpp"

#include <fmt/core.h>
#include <nccl.h>

#include <string_view>

namespace dlmb::nccl {

using dlmb::check;

/// ncclInProgress is what non-blocking communicators answer and no fault.
inline void check(ncclResult_t code, std::string_view call, Where where = Where::here()) {
    if (code != ncclSuccess && code != ncclInProgress) {
        throw Error(fmt::format("{}: {} ({})", call, ncclGetErrorString(code), ncclGetLastError(nullptr)), where);
    }
}
template <class T>
void check(T, std::string_view, Where = Where::here()) = delete;

/// As check(), for calls of which it matters whether they are still in progress.
inline ncclResult_t checked(ncclResult_t code, std::string_view call, Where where = Where::here()) {
    check(code, call, where);
    return code;
}

}  // namespace dlmb::nccl
