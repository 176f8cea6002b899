// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// NCCL before 2.19.
#include "common/backends/nccl/registration.hpp"
#include "common/base/error.hpp"

namespace dlmb::nccl {

char const* user_buffers_missing() {
    return "this build's NCCL is older than 2.19 and has no ncclCommRegister";
}

Registration::Handle register_user_buffer(ncclComm_t /*communicator*/, std::byte* /*data*/, Bytes /*bytes*/) {
    throw Error(user_buffers_missing());
}

}  // namespace dlmb::nccl
