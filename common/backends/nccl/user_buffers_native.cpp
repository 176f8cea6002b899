// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// NCCL 2.19 and later.
#include "common/backends/nccl/check.hpp"
#include "common/backends/nccl/registration.hpp"

namespace dlmb::nccl {

char const* user_buffers_missing() {
    return nullptr;
}

Registration::Handle register_user_buffer(ncclComm_t communicator, std::byte* data, Bytes bytes) {
    void* handle = nullptr;
    check(ncclCommRegister(communicator, data, bytes, &handle), "ncclCommRegister");
    return {communicator, handle,
            [](ncclComm_t of, void* registered) noexcept { (void)ncclCommDeregister(of, registered); }};
}

}  // namespace dlmb::nccl
