// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/measure/buffers/rotation.hpp"

#include <algorithm>
#include <numeric>

namespace dlmb::measure {
namespace {

constexpr Bytes assumed_cache_bytes = Bytes{64} << 20;

}  // namespace

std::uint64_t slots_wanted(Bytes slot_bytes, Bytes cache_bytes, std::uint64_t steps) {
    if (slot_bytes == 0) {
        return 1;
    }
    Bytes const cache = cache_bytes == 0 ? assumed_cache_bytes : cache_bytes;
    std::uint64_t const sensible = slot_bytes < cache / most_slots ? few_slots : most_slots;
    std::uint64_t const compiled = std::max<std::uint64_t>(1, most_compiled_steps / std::max<std::uint64_t>(1, steps));
    std::uint64_t const covering = (caches_in_pool * cache + slot_bytes - 1) / slot_bytes;
    return std::min({covering, sensible, compiled});
}

std::uint64_t slots_affordable(Bytes slot_bytes, Bytes share_bytes) {
    return std::max<std::uint64_t>(1, std::min(share_bytes, most_pool_bytes) / std::max<Bytes>(1, slot_bytes));
}

// Two passes over the draws are short enough; with two slots there is always such a pass.
std::uint64_t slots_for(std::uint64_t wanted, std::uint64_t affordable, std::uint64_t draws) {
    auto const short_pass = [draws](std::uint64_t slots) {
        return positions_of(draws, slots) <= std::max(2 * draws, slots);
    };
    for (std::uint64_t slots = wanted; slots < wanted + draws && slots <= affordable; ++slots) {
        if (short_pass(slots)) {
            return slots;
        }
    }
    std::uint64_t slots = std::min(wanted, affordable);
    while (!short_pass(slots)) {
        --slots;
    }
    return slots;
}

std::uint64_t positions_of(std::uint64_t draws, std::uint64_t slots) {
    return std::lcm(draws, slots);
}

}  // namespace dlmb::measure
