// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// The embedding tables of a model: what --tables, --rows, --dim and --pooling say together.
#pragma once

#include "patterns/dlrm_exchange/number_lists.hpp"
#include "patterns/pattern.hpp"

#include <cstdint>
#include <vector>

namespace dlmb::dlrm_exchange {

struct Table {
    std::uint64_t rows = 1;
    std::uint64_t dim = 1;     // values per row
    Millionths pooling = one;  // mean indices per bag ("multi-hot size")
};

inline constexpr std::uint64_t max_rows = 0xFFFF'FFFF;  // a product of two row numbers fits 64 bits
inline constexpr std::uint64_t max_dim = std::uint64_t{1} << 20;
inline constexpr std::uint64_t max_pooling = std::uint64_t{1} << 16;

/// Each list has one number for all tables or one per table. `--tables 0`: as many as the longest list, 26 (those of
/// Criteo's data) when each is one number. Throws UsageError that says which lengths do not fit.
[[nodiscard]] std::vector<Table> read_tables(Parameters const& parameters);

}  // namespace dlmb::dlrm_exchange
