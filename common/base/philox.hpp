// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Philox4x32-10: a random number is a pure function of (key, counter), so any rank can compute any other rank's draws
// in any order. The only source of randomness in DLMB; no std::*_distribution, whose results differ by library.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace dlmb {

using PhiloxBlock = std::array<std::uint32_t, 4>;

/// Four random words. The low half of `key` is the first key word.
[[nodiscard]] constexpr PhiloxBlock philox(PhiloxBlock counter, std::uint64_t key) {
    constexpr std::uint64_t multiplier_0 = 0xD2511F53;
    constexpr std::uint64_t multiplier_1 = 0xCD9E8D57;
    auto key_0 = static_cast<std::uint32_t>(key);
    auto key_1 = static_cast<std::uint32_t>(key >> 32);
    for (int round = 0; round < 10; ++round) {
        std::uint64_t const product_0 = multiplier_0 * counter[0];
        std::uint64_t const product_1 = multiplier_1 * counter[2];
        counter = {
            static_cast<std::uint32_t>(product_1 >> 32) ^ counter[1] ^ key_0, static_cast<std::uint32_t>(product_1),
            static_cast<std::uint32_t>(product_0 >> 32) ^ counter[3] ^ key_1, static_cast<std::uint32_t>(product_0)};
        key_0 += 0x9E3779B9U;
        key_1 += 0xBB67AE85U;
    }
    return counter;
}

/// Uniform in the open interval (0, 1), exact in double: never 0 and never 1, so that its logarithm is finite.
[[nodiscard]] constexpr double to_unit(std::uint32_t word) {
    return (static_cast<double>(word) + 0.5) * 0x1p-32;
}

/// Uniform in [0, limit); its bias is below limit / 2^32.
[[nodiscard]] constexpr std::uint32_t below(std::uint32_t word, std::uint32_t limit) {
    return static_cast<std::uint32_t>((std::uint64_t{word} * limit) >> 32);
}

/// Which random routing a plan is. The same (seed, index) gives the same traffic on every rank, compiler and machine.
struct Draw {
    std::uint64_t seed = 1;
    std::uint32_t index = 0;
    bool operator==(Draw const&) const = default;
};

/// The use of random numbers; two purposes never share a counter.
enum class Purpose : std::uint32_t {
    expert_positions = 1,
    power_law = 2,
    topk_sampling = 3,
    balanced_experts = 4,
    balanced_groups = 5,
    bag_size = 6,
    large_gradients = 7,
    small_gradients = 8,
    placement = 9,
    skew_drift = 10,
    skew_burst = 11
};

/// The last counter word: 4 bits of purpose, 12 of layer, 16 of block (several blocks for one token).
[[nodiscard]] constexpr std::uint32_t stream_id(Purpose purpose, std::uint32_t layer, std::uint32_t block = 0) {
    return (static_cast<std::uint32_t>(purpose) << 28) | ((layer & 0xFFFU) << 16) | (block & 0xFFFFU);
}
inline constexpr std::uint32_t max_layers = 0x1000;
inline constexpr std::uint32_t max_words_per_token = 4 * 0x10000;

/// Words in order under one (draw, source, stream); the token word of the counter counts the blocks.
class RandomSequence {
public:
    RandomSequence(std::uint64_t seed, std::uint32_t draw, std::uint32_t source, std::uint32_t stream)
        : seed_(seed), counter_{draw, 0, source, stream} {}

    [[nodiscard]] std::uint32_t next() {
        if (used_ == block_.size()) {
            block_ = philox(counter_, seed_);
            ++counter_[1];
            used_ = 0;
        }
        return block_[used_++];
    }

private:
    std::uint64_t seed_;
    PhiloxBlock counter_;
    PhiloxBlock block_{};
    std::size_t used_ = 4;
};

}  // namespace dlmb
