// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// What libFuzzer calls, for the target that DLMB_FUZZ_TARGET names.
#include "tests/fuzz/targets.hpp"

#include <cstddef>
#include <cstdint>

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
    dlmb::fuzz::DLMB_FUZZ_TARGET({reinterpret_cast<char const*>(data), size});
    return 0;
}
