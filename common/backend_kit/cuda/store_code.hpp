// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace dlmb {

/// Stores the two bytes of an fp16 or bf16 code where no alignment is known. By way of an integer of 32 bits: where a
/// conversion's result itself is stored byte by byte, ptxas 13.0 takes the lower byte for a conversion to an integer
/// (F2I.U8.F16) and stores 0 or 1.
__device__ inline void store_code(unsigned char* to, unsigned short code) {
    unsigned const wide = __byte_perm(code, 0U, 0x4410U);
    to[0] = static_cast<unsigned char>(wide);
    to[1] = static_cast<unsigned char>(wide >> 8U);
}

}  // namespace dlmb
