// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/measure/round_order.hpp"

#include <numeric>
#include <utility>

namespace dlmb::measure {
namespace {

// The finaliser of splitmix64 (Steele, Lea, Flood 2014). Not std::shuffle: its result differs between libraries.
std::uint64_t scrambled(std::uint64_t x) {
    x += 0x9E3779B97F4A7C15ULL;
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ULL;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBULL;
    return x ^ (x >> 31);
}

}  // namespace

std::vector<std::size_t> round_order(std::size_t count, std::uint64_t seed, std::uint64_t round) {
    std::vector<std::size_t> order(count);
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::uint64_t const key = scrambled(scrambled(seed) + round);
    for (std::size_t left = count; left > 1; --left) {
        std::swap(order[left - 1], order[scrambled(key + left) % left]);
    }
    return order;
}

}  // namespace dlmb::measure
