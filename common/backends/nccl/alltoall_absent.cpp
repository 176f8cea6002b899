// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// NCCL before 2.28.
#include "common/backends/nccl/iteration.hpp"
#include "common/base/error.hpp"

namespace dlmb::nccl {

char const* all_to_all_missing() {
    return "this build's NCCL is older than 2.28 and has no ncclAlltoAll";
}

ncclResult_t all_to_all(CollectiveCall const& /*call*/, cudaStream_t /*stream*/) {
    throw Error(all_to_all_missing());
}

}  // namespace dlmb::nccl
