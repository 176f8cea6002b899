// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// What MPI_Alltoallv takes of one buffer, for loops that are written by hand.
#pragma once

#include "common/formats/plan/plan.hpp"

#include <vector>

namespace dlmb::benchmark {

struct AlltoallvSide {
    std::byte* base = nullptr;
    std::vector<int> counts;  // bytes, by rank
    std::vector<int> offsets;
};

inline AlltoallvSide side(std::vector<Block> const& blocks, std::byte* base, std::size_t ranks) {
    AlltoallvSide made{base, std::vector<int>(ranks), std::vector<int>(ranks)};
    for (Block const& block : blocks) {
        made.counts[static_cast<std::size_t>(block.peer)] = static_cast<int>(block.bytes);
        made.offsets[static_cast<std::size_t>(block.peer)] = static_cast<int>(block.offset);
    }
    return made;
}

}  // namespace dlmb::benchmark
