// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// NCCL before 2.27.
#include "common/backends/nccl/registration.hpp"
#include "common/base/error.hpp"

namespace dlmb::nccl {

char const* windows_missing() {
    return "this build's NCCL is older than 2.27 and has no ncclCommWindowRegister";
}

Registration::Handle register_window(Bootstrap& /*bootstrap*/, ncclComm_t /*communicator*/, std::byte* /*data*/,
                                     Bytes /*bytes*/) {
    throw Error(windows_missing());
}

}  // namespace dlmb::nccl
