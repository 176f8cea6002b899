// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/base/hash.hpp"

#include <fmt/core.h>

namespace dlmb {

std::string stable_hash(std::string_view text) {
    std::uint64_t hash = fnv1a_start;
    for (char const character : text) {
        hash = fnv1a(hash, static_cast<unsigned char>(character));
    }
    return fmt::format("{:016x}", hash);
}

}  // namespace dlmb
