// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Host memory that the runtime was told about.
#pragma once

#include <cstddef>

namespace dlmb::fake_gpu {

/// False: a part of it is registered already.
[[nodiscard]] bool pin(void* data, std::size_t bytes);
/// False: no registration begins there.
[[nodiscard]] bool unpin(void* data);
[[nodiscard]] bool is_pinned(void const* data, std::size_t bytes);

}  // namespace dlmb::fake_gpu
