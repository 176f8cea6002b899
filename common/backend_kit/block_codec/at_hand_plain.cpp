// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/backend_kit/block_codec/kernels.hpp"

namespace dlmb::codec_loop {

std::vector<Kernels> kernels_at_hand() {
    return {plain_kernels()};
}

}  // namespace dlmb::codec_loop
