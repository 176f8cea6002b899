// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Hashes that are equal on every platform, as they end up in files and are compared over ranks. Not for security.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace dlmb {

/// FNV-1a of 64 bits (Fowler, Noll, Vo; draft-eastlake-fnv): start with the first, add field after field.
inline constexpr std::uint64_t fnv1a_start = 0xCBF29CE484222325ULL;
[[nodiscard]] constexpr std::uint64_t fnv1a(std::uint64_t hash, std::uint64_t field) {
    return (hash ^ field) * 0x100000001B3ULL;
}

/// Field after field, each byte is one.
[[nodiscard]] constexpr std::uint64_t fnv1a(std::uint64_t hash, std::string_view bytes) {
    for (char const byte : bytes) {
        hash = fnv1a(hash, static_cast<unsigned char>(byte));
    }
    return hash;
}

[[nodiscard]] std::string hex_digits(std::uint64_t hash);

/// The 64-bit FNV-1a of the bytes as 16 hex digits.
[[nodiscard]] std::string stable_hash(std::string_view text);

/// One step of splitmix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators, OOPSLA 2014): one bit of
/// `value` changes half of the result.
[[nodiscard]] constexpr std::uint64_t splitmix64(std::uint64_t value) {
    value += 0x9E3779B97F4A7C15ULL;
    value = (value ^ (value >> 30U)) * 0xBF58476D1CE4E5B9ULL;
    value = (value ^ (value >> 27U)) * 0x94D049BB133111EBULL;
    return value ^ (value >> 31U);
}

}  // namespace dlmb
