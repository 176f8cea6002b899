// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/record/hash.hpp"

#include <fmt/core.h>

#include <cstdint>

namespace dlmb::record {

std::string stable_hash(std::string_view text) {
    std::uint64_t hash = 0xCBF29CE484222325ULL;
    for (char const character : text) {
        hash ^= static_cast<unsigned char>(character);
        hash *= 0x100000001B3ULL;
    }
    return fmt::format("{:016x}", hash);
}

}  // namespace dlmb::record
