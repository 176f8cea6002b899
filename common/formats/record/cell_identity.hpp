// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Identity of a cell, one point of a sweep on one backend with one method: the join key of result lines, and what
// --resume looks for.
#pragma once

#include "common/base/units.hpp"
#include "common/formats/plan/world.hpp"

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace dlmb::record {

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
    return fill == Fill::random ? "random" : "zeros";
}

/// The work of a thread beside each rank while a cell is measured (common/measure/beside/load.hpp).
enum class Load : std::uint8_t { compute, memory };
inline constexpr std::array every_load{Load::compute, Load::memory};
[[nodiscard]] constexpr std::string_view name_of(Load load) {
    return load == Load::compute ? "compute" : "memory";
}
/// --beside traffic:NAME: other launches communicate meanwhile. Who started them knows what NAME is.
inline constexpr std::string_view other_traffic = "traffic:";
/// The load that CellIdentity::beside says; nothing: none, or other launches, of which this one does nothing.
[[nodiscard]] constexpr std::optional<Load> load_of(std::string_view beside) {
    for (Load const load : every_load) {
        if (name_of(load) == beside) {
            return load;
        }
    }
    return std::nullopt;
}
/// CellIdentity::beside as --beside takes it.
[[nodiscard]] inline std::string beside_text(std::string const& beside) {
    return beside.empty() ? "none" : beside;
}

/// How one cell treated the caches.
struct CacheUse {
    CacheMode mode = CacheMode::rotate;
    std::uint64_t slots = 0;  // sets of buffers that iterations take in turn; 0: it did not come to that
    Bytes pool_bytes = 0;     // of all slots, most of any rank
    Bytes cache_bytes = 0;    // largest that this memory is cached in on any rank; 0: the system does not say
    Bytes flush_bytes = 0;    // swept before each sample
    bool covers_llc = false;  // on every rank the slots together are three times that cache
    bool operator==(CacheUse const&) const = default;
};

/// The fields that identify a cell: equal identities are the same measurement (used by --resume and as join
/// key).
struct CellIdentity {
    std::string pattern;
    std::string preset;                             // may be empty
    std::map<std::string, std::string> parameters;  // resolved, all of them
    std::string backend;
    std::string method;
    std::string memory;
    std::string mode;  // name_of(Mode)
    WorldShape world;
    std::uint64_t seed = 1;
    std::uint32_t draws = 1;
    CacheMode cache = CacheMode::rotate;
    Fill fill = Fill::random;
    std::string beside = {};  // a load, or traffic:NAME; empty: the ranks have nothing else to do
    bool operator==(CellIdentity const&) const = default;
};

}  // namespace dlmb::record
