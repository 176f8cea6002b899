// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "patterns/sparse_allreduce/gradients.hpp"

#include "common/base/exact_math.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>
#include <utility>

namespace dlmb::sparse_allreduce {
namespace {

constexpr double largest_magnitude = 64;  // above the largest of 2^32 gradients: 32 ln 2 + 33 ln 2
constexpr int fp32_bits = 24;

/// Adds `count` different indices from [begin, end), ascending, every set of them with the same chance; all where there
/// are no more.
void add_indices(std::uint64_t begin, std::uint64_t end, std::size_t count, RandomSequence& random,
                 std::vector<std::uint32_t>& indices) {
    std::uint64_t const size = end - begin;
    std::size_t const wanted = indices.size() + std::min<std::uint64_t>(count, size);
    auto const first = static_cast<std::ptrdiff_t>(indices.size());
    if (count >= size) {
        indices.resize(wanted);
        std::iota(indices.begin() + first, indices.end(), static_cast<std::uint32_t>(begin));
    }
    while (indices.size() < wanted) {
        for (std::size_t missing = wanted - indices.size(); missing > 0; --missing) {
            indices.push_back(static_cast<std::uint32_t>(begin + ((random.next() * size) >> 32)));
        }
        std::sort(indices.begin() + first, indices.end());
        indices.erase(std::unique(indices.begin() + first, indices.end()), indices.end());
    }
}

}  // namespace

Gradients::Gradients(Params const& params) : params_(params) {
    // For small k a good many more, so that there are k whatever the skew.
    large_ = std::min<std::uint64_t>(params.elements, 2 * std::uint64_t{params.k} + 64);
    double const share = static_cast<double>(large_) / static_cast<double>(params.elements);
    int const sum_bits = fp32_bits - static_cast<int>(std::bit_width(params.ranks));
    unit_ = std::ldexp(largest_magnitude, -sum_bits);
    floor_ = static_cast<std::uint64_t>(-exact::log(share) / unit_);
}

float Gradients::value_of(std::uint64_t units, bool negative) const {
    double const magnitude = static_cast<double>(units) * unit_;
    return static_cast<float>(negative ? -magnitude : magnitude);
}

SparseVector Gradients::large(Rank rank, Draw draw) const {
    RandomSequence random(draw.seed, draw.index, static_cast<std::uint32_t>(rank),
                          stream_id(Purpose::large_gradients, 0));
    std::vector<std::uint32_t> indices;
    auto const crowded = static_cast<std::size_t>(std::llround(params_.skew.picks * static_cast<double>(large_)));
    add_indices(0, params_.crowded, crowded, random, indices);
    add_indices(params_.crowded, params_.elements, large_ - crowded, random, indices);

    // One magnitude from each of so many equal parts of the tail, in a random order.
    std::size_t const count = indices.size();
    std::vector<std::uint32_t> parts(count);
    std::iota(parts.begin(), parts.end(), 0U);
    SparseVector chosen;
    for (std::size_t i = 0; i < count; ++i) {
        std::swap(parts[i], parts[i + below(random.next(), static_cast<std::uint32_t>(count - i))]);
        std::uint32_t const word = random.next();
        double const tail = (static_cast<double>(parts[i]) + to_unit(word)) / static_cast<double>(count);
        auto const above = static_cast<std::uint64_t>(-exact::log(tail) / unit_);
        chosen.push_back({indices[i], value_of(floor_ + 1 + above, (word & 1U) != 0)});
    }
    return chosen;
}

std::vector<float> Gradients::all(Rank rank, Draw draw) const {
    std::vector<float> values(params_.elements);
    RandomSequence random(draw.seed, draw.index, static_cast<std::uint32_t>(rank),
                          stream_id(Purpose::small_gradients, 0));
    for (float& value : values) {
        std::uint32_t const word = random.next();
        value = value_of((std::uint64_t{word} * (floor_ + 1)) >> 32, (word & 1U) != 0);
    }
    for (SparseEntry const& entry : large(rank, draw)) {
        values[entry.index] = entry.value;
    }
    return values;
}

}  // namespace dlmb::sparse_allreduce
