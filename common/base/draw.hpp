// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Which random routing a plan is. The same (seed, index) gives the same traffic on every rank, compiler and machine.
#pragma once

#include <cstdint>

namespace dlmb {

struct Draw {
    std::uint64_t seed = 1;
    std::uint32_t index = 0;
    bool operator==(Draw const&) const = default;
};

}  // namespace dlmb
