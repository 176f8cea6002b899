// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "patterns/dlrm_exchange/bags.hpp"

#include "common/base/philox.hpp"

namespace dlmb::dlrm_exchange {
namespace {

std::uint64_t fixed_before(Millionths pooling, std::uint64_t samples) {
    return pooling / one * samples + pooling % one * samples / one;
}

}  // namespace

std::uint64_t fixed_indices(Millionths pooling, Samples samples) {
    return fixed_before(pooling, samples.end) - fixed_before(pooling, samples.begin);
}

std::uint64_t drawn_indices(std::size_t table, Millionths pooling, Samples samples, Draw draw) {
    auto const stream = stream_id(Purpose::bag_size, 0);
    std::uint64_t total = 0;
    PhiloxBlock words{};
    for (std::uint64_t sample = samples.begin; sample < samples.end; ++sample) {
        if (sample == samples.begin || sample % words.size() == 0) {
            words = philox({draw.index, static_cast<std::uint32_t>(sample / words.size()),
                            static_cast<std::uint32_t>(table), stream},
                           draw.seed);
        }
        std::uint64_t const mean = fixed_indices(pooling, {sample, sample + 1});
        total += below(words.at(sample % words.size()), static_cast<std::uint32_t>(2 * mean + 1));
    }
    return total;
}

std::uint64_t indices_below(std::uint64_t indices, std::uint64_t end, std::uint64_t rows) {
    // In two parts, because indices * end may need more than 64 bits; rows and end have 32.
    return indices / rows * end + indices % rows * end / rows;
}

}  // namespace dlmb::dlrm_exchange
