// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// NCCL 2.27 and later.
#include "common/backends/nccl/check.hpp"
#include "common/backends/nccl/communicators.hpp"
#include "common/backends/nccl/registration.hpp"

namespace dlmb::nccl {

char const* windows_missing() {
    return nullptr;
}

Registration::Handle register_window(Bootstrap& bootstrap, ncclComm_t communicator, std::byte* data, Bytes bytes) {
    ncclWindow_t window = nullptr;
    check(ncclCommWindowRegister(communicator, data, bytes, &window, NCCL_WIN_COLL_SYMMETRIC),
          "ncclCommWindowRegister");
    wait_until_ready(bootstrap, communicator, "ncclCommWindowRegister");  // the window is not known before
    return {communicator, window, [](ncclComm_t of, void* registered) noexcept {
                (void)ncclCommWindowDeregister(of, static_cast<ncclWindow_t>(registered));
            }};
}

}  // namespace dlmb::nccl
