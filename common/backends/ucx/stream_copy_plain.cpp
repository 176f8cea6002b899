// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
// For processors whose streaming stores are not used here.
#include "common/backends/ucx/stream_copy.hpp"

#include <cstring>

namespace dlmb::ucx {

void stream_copy(std::byte* to, std::byte const* from, Bytes bytes) {
    std::memcpy(to, from, bytes);
}

}  // namespace dlmb::ucx
