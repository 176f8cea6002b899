// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// NCCL before 2.29.
#include "common/backends/nccl/iteration.hpp"
#include "common/base/error.hpp"

namespace dlmb::nccl {

bool has_one_sided_calls() {
    return false;
}

ncclResult_t post(OneSidedCall const& /*call*/, cudaStream_t /*stream*/) {
    throw Error("nccl: one-sided calls in a build without them");
}

}  // namespace dlmb::nccl
