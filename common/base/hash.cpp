// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/base/hash.hpp"

#include <fmt/core.h>

namespace dlmb {

std::string hex_digits(std::uint64_t hash) {
    return fmt::format("{:016x}", hash);
}

std::string stable_hash(std::string_view text) {
    return hex_digits(fnv1a(fnv1a_start, text));
}

}  // namespace dlmb
