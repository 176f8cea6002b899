// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// The coded payload. Every 8-byte word is a function of who sends it, to whom, in which step and iteration, and its
// offset in the block; a block that arrives from the wrong peer, shifted, short or one iteration late cannot pass.
#pragma once

#include "common/base/hash.hpp"
#include "common/base/units.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>

namespace dlmb {

struct PayloadKey {
    std::uint64_t value = 0;
    bool operator==(PayloadKey const&) const = default;
};

inline constexpr Rank every_rank = -1;  // destination of what all members receive alike (all_gather, broadcast)

/// World ranks; `step` is a number that sender and receiver of a block agree on (StepIds are a rank's own: a Send and
/// its Recv rarely share one), `iteration` counts validated iterations of a cell.
[[nodiscard]] constexpr PayloadKey payload_key(Rank source, Rank destination, std::uint32_t step,
                                               std::uint32_t iteration) {
    std::uint64_t const ranks =
        (std::uint64_t{static_cast<std::uint32_t>(source)} << 32) | static_cast<std::uint32_t>(destination);
    std::uint64_t const step_and_iteration = (std::uint64_t{step} << 32) | iteration;
    return {splitmix64(ranks) ^ (splitmix64(step_and_iteration) * 0xD6E8FEB86659FD93ULL)};
}

/// The content of untouched receive memory.
inline constexpr PayloadKey guard_key{0x5CA1AB1E0DDBA11ULL};

/// Word `index` of the stream of `key` (little-endian in memory). Adds, shifts and xors only, so that it vectorises.
[[nodiscard]] constexpr std::uint64_t payload_word(PayloadKey key, std::uint64_t index) {
    std::uint64_t const x = key.value + index * 0x9E3779B97F4A7C15ULL;
    return x ^ (x >> 29) ^ (x << 17);
}

/// Byte `position` of that stream.
[[nodiscard]] constexpr std::byte payload_byte(PayloadKey key, Bytes position) {
    return static_cast<std::byte>(payload_word(key, position / 8) >> (8 * (position % 8)));
}

struct Mismatch {
    Bytes offset = 0;  // first wrong byte
    std::uint8_t expected = 0;
    std::uint8_t found = 0;
};

/// On memory that the host can address: writes / verifies `bytes` of the stream from word `start` on. Any alignment.
void fill_payload(std::byte* data, Bytes bytes, PayloadKey key, Bytes start = 0);
[[nodiscard]] std::optional<Mismatch> check_payload(std::byte const* data, Bytes bytes, PayloadKey key,
                                                    Bytes start = 0);

}  // namespace dlmb
