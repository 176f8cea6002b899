// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// NCCL 2.28 and later.
#include "common/backends/nccl/check.hpp"
#include "common/backends/nccl/iteration.hpp"

namespace dlmb::nccl {

char const* all_to_all_missing() {
    return nullptr;
}

ncclResult_t all_to_all(CollectiveCall const& call, cudaStream_t stream) {
    return checked(ncclAlltoAll(call.send, call.recv, call.count, call.type, call.communicator, stream),
                   "ncclAlltoAll");
}

}  // namespace dlmb::nccl
