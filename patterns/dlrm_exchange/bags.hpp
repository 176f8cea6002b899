// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// How many indices the bags of a run of samples hold. A bag depends on its table, its sample and the draw only, so
// the same batch is merely split differently over another number of ranks.
#pragma once

#include "common/base/draw.hpp"
#include "patterns/dlrm_exchange/params.hpp"

#include <cstdint>

namespace dlmb::dlrm_exchange {

/// Samples [begin, end) of the whole batch.
struct Samples {
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
};

/// Bags of the mean size: floor(end * pooling) - floor(begin * pooling), so that nothing is lost where it has a
/// fraction.
[[nodiscard]] std::uint64_t fixed_indices(Millionths pooling, Samples samples);

/// A bag of fixed size L becomes one of 0 to 2 L with equal chance. O(samples).
[[nodiscard]] std::uint64_t drawn_indices(std::size_t table, Millionths pooling, Samples samples, Draw draw);

/// Of `indices` spread evenly over `rows` rows those below row `end`: floor(indices * end / rows).
[[nodiscard]] std::uint64_t indices_below(std::uint64_t indices, std::uint64_t end, std::uint64_t rows);

}  // namespace dlmb::dlrm_exchange
