// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "patterns/dp_gradients/buckets.hpp"

#include <algorithm>
#include <numeric>

namespace dlmb::dp_gradients {

std::uint64_t padded(std::uint64_t elements, std::uint64_t multiple) {
    return (elements + multiple - 1) / multiple * multiple;
}

std::vector<Bucket> close_when_full(std::span<std::uint64_t const> sizes, std::uint64_t first_cap, std::uint64_t cap) {
    std::vector<Bucket> buckets;
    Bucket open;
    for (std::size_t i = 0; i < sizes.size(); ++i) {
        if (open.elements == 0) {
            open.first = i;
        }
        if (sizes[i] == 0) {
            continue;
        }
        open.elements += sizes[i];
        open.last = i;
        if (open.elements >= (buckets.empty() ? first_cap : cap)) {
            buckets.push_back(open);
            open = {};
        }
    }
    if (open.elements > 0) {
        buckets.push_back(open);
    }
    return buckets;
}

std::vector<Bucket> close_before_overflow(std::span<std::uint64_t const> sizes, std::uint64_t limit) {
    std::vector<Bucket> buckets;
    Bucket open;
    for (std::size_t i = 0; i < sizes.size(); ++i) {
        if (open.elements > 0 && open.elements + sizes[i] > limit) {
            buckets.push_back(open);
            open = {0, i, i};
        }
        open.elements += sizes[i];
        open.last = i;
    }
    if (open.elements > 0) {
        buckets.push_back(open);
    }
    return buckets;
}

std::vector<Bucket> megatron_buckets(std::span<std::uint64_t const> sizes, std::uint64_t cap, std::uint64_t ranks) {
    constexpr std::uint64_t tensor_alignment = 64;
    constexpr std::uint64_t bucket_alignment = 128;
    bool const pads = ranks > 0;
    std::uint64_t const bucket_multiple = pads ? std::lcm(ranks, bucket_alignment) : 1;
    std::vector<Bucket> buckets;
    Bucket open;
    for (std::size_t i = 0; i < sizes.size(); ++i) {
        open.elements = padded(open.elements, pads ? tensor_alignment : 1) + sizes[i];
        open.last = i;
        if (open.elements >= cap || i + 1 == sizes.size()) {
            open.elements = padded(open.elements, bucket_multiple);
            buckets.push_back(open);
            open = {0, i + 1, i + 1};
        }
    }
    return buckets;
}

std::uint64_t megatron_bucket_elements(std::uint64_t ranks) {
    return std::max<std::uint64_t>(40'000'000, 1'000'000 * ranks);
}

std::vector<std::uint64_t> gather_shards(std::uint64_t total, std::uint64_t limit, std::uint64_t ranks) {
    std::uint64_t const parts = limit == 0 ? 1 : std::max<std::uint64_t>(total / limit, 1);
    std::uint64_t const part = total / parts;
    std::vector<std::uint64_t> shards(parts, padded(part, ranks));
    shards.back() = padded(total - (parts - 1) * part, limit == 0 ? 2 * ranks : ranks);
    return shards;
}

}  // namespace dlmb::dp_gradients
