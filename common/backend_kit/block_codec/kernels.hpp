// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// The functions that convert, by code and kind of number.
#pragma once

#include "common/backend_kit/block_codec.hpp"

#include <array>
#include <vector>

namespace dlmb::codec_loop {

struct Kernel {
    void (*pack)(PackedRow to, std::byte const* numbers, std::uint64_t count, BlockFormat const& format);
    void (*unpack)(std::byte* numbers, PackedRow from, std::uint64_t count, BlockFormat const& format);
};
using KernelRow = std::array<Kernel, 3>;   // bf16, fp16, fp32
using Kernels = std::array<KernelRow, 5>;  // by Code

/// For any processor of the architecture that the compiler makes code for.
Kernels plain_kernels();
// x86-64 only.
Kernels avx2_kernels();
Kernels avx512_kernels();

/// The kernels that this processor can run, those for the widest vectors last. All make the same bits. One file per
/// architecture defines it.
std::vector<Kernels> kernels_at_hand();

}  // namespace dlmb::codec_loop
