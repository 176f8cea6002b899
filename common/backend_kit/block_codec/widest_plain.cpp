// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/backend_kit/block_codec/kernels.hpp"

namespace dlmb::codec_loop {

Kernels widest_kernels() {
    return plain_kernels();
}

}  // namespace dlmb::codec_loop
