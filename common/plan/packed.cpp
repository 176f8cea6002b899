// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/plan/packed.hpp"

namespace dlmb {

std::optional<Packed> packed(std::span<Block const> blocks, std::size_t members) {
    if (blocks.empty()) {
        return Packed{};
    }
    if (blocks.size() != members) {
        return std::nullopt;
    }
    Block const& first = blocks.front();
    for (std::size_t i = 0; i < blocks.size(); ++i) {
        if (blocks[i].bytes != first.bytes || blocks[i].offset != first.offset + i * first.bytes) {
            return std::nullopt;
        }
    }
    return Packed{first.offset, first.bytes};
}

}  // namespace dlmb
