// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// NCCL's two ways to register memory, each in two files of which CMake picks one: NAME_native.cpp and NAME_absent.cpp.
#pragma once

#include "common/backends/nccl/registration.hpp"

namespace dlmb::nccl {

/// ncclCommRegister, NCCL 2.19 and later. nullptr: it can be called.
[[nodiscard]] char const* user_buffers_missing();
/// Any device memory; on this rank alone, though registering on some ranks only is an error of the caller.
[[nodiscard]] Registration::Handle register_user_buffer(ncclComm_t communicator, std::byte* data, Bytes bytes);

/// ncclCommWindowRegister, NCCL 2.27 and later. nullptr: it can be called.
[[nodiscard]] char const* windows_missing();
/// Collective over the communicator, with equal sizes. Memory from ncclMemAlloc, at a multiple of 4096.
[[nodiscard]] Registration::Handle register_window(Bootstrap& bootstrap, ncclComm_t communicator, std::byte* data,
                                                   Bytes bytes);

}  // namespace dlmb::nccl
