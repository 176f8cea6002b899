// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// In what state the caches are when a sample begins, and what the bytes are that it moves: part of what a cell is.
#pragma once

#include "common/base/units.hpp"

#include <array>
#include <string_view>

namespace dlmb::measure {

/// rotate: iterations take several sets of buffers in turn, together larger than the caches where memory and the number
/// of sets allow it. warm: one set. flush: one set, and the caches are swept before every sample.
enum class CacheMode : std::uint8_t { rotate, warm, flush };
inline constexpr std::array every_cache_mode{CacheMode::rotate, CacheMode::warm, CacheMode::flush};
[[nodiscard]] constexpr std::string_view name_of(CacheMode mode) {
    constexpr std::array<std::string_view, every_cache_mode.size()> names{"rotate", "warm", "flush"};
    return names.at(static_cast<std::size_t>(mode));
}

/// random: the coded payload of common/memory/payload.hpp, small integers for reductions.
enum class Fill : std::uint8_t { random, zeros };
inline constexpr std::array every_fill{Fill::random, Fill::zeros};
[[nodiscard]] constexpr std::string_view name_of(Fill fill) {
    constexpr std::array<std::string_view, every_fill.size()> names{"random", "zeros"};
    return names.at(static_cast<std::size_t>(fill));
}

/// What was done about the caches in one cell.
struct CacheUse {
    CacheMode mode = CacheMode::rotate;
    std::uint64_t slots = 0;  // sets of buffers that iterations take in turn; 0: it did not come to that
    Bytes pool_bytes = 0;     // of all slots, most of any rank
    Bytes cache_bytes = 0;    // largest that this memory is cached in on any rank; 0: the system does not say
    Bytes flush_bytes = 0;    // swept before each sample
    bool covers_llc = false;  // on every rank the slots together are three times that cache
    bool operator==(CacheUse const&) const = default;
};

}  // namespace dlmb::measure
