// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// x86-64: the time stamp counter. Since 2008 it runs at one rate in all states of power ("invariant TSC", Intel SDM
// 17.17.1, AMD64 manual volume 3 appendix E.4.6). By the compiler's own name: <x86intrin.h> declares every instruction
// of the processor, and takes longer to compile than all that this header is included with.
#pragma once

#include <cstdint>

namespace dlmb {

using Ticks = std::uint64_t;

[[nodiscard]] inline Ticks read_ticks() {
    return __builtin_ia32_rdtsc();
}

}  // namespace dlmb
