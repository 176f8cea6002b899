// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Host memory that UCX allocates (-d ucx): it belongs to the context by which puts and gets with the user's settings
// are made (Workers::remote_context()).
#pragma once

#include "common/backends/ucx/ucp.hpp"

namespace dlmb::ucx {

/// The memory in which `data` lies, if it is of this kind and context; else nullptr.
[[nodiscard]] ucp_mem_h allocated_memory(ucp_context_h context, std::byte const* data);

}  // namespace dlmb::ucx
