// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// The embedding tables of a model: what --tables, --rows, --dim and --pooling say together, and the lists of numbers
// that these options take. The comma separates the points of a sweep, so a list has '+': "64" (one number for all),
// "3+2+26x1" (26x1: twenty-six times 1), a published list by name, or file:PATH (the same entries separated by blanks,
// commas or lines;
// '#' starts a comment).
#pragma once

#include "patterns/pattern.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace dlmb::dlrm_exchange {

/// A decimal number times 1,000,000: mean bag sizes have fractions, and counts must be exact.
using Millionths = std::uint64_t;
inline constexpr Millionths one = 1'000'000;

/// Of a value that names a file.
inline constexpr std::string_view file_prefix = "file:";

/// A list that is known by name; `text` is in the syntax above.
struct NamedNumbers {
    std::string_view name;
    std::string_view text;
};

/// What a list may hold.
struct NumberRule {
    std::string_view option;  // with dashes, for messages
    bool whole = true;
    std::uint64_t min = 0;
    std::uint64_t max = 0;
    std::span<NamedNumbers const> named;
};

/// Throws UsageError naming the option and the entry.
[[nodiscard]] std::vector<Millionths> read_numbers(std::string_view text, NumberRule const& rule);

/// mlperf-v1: Criteo Terabyte as MLPerf Training v0.7 to v2.1 has it, 26 tables, 177,944,275 rows.
/// dcnv2: MLPerf Training v3.0 (DLRM-DCNv2), indices capped at 40 million, 26 tables, 204,184,588 rows.
[[nodiscard]] std::span<NamedNumbers const> published_rows();

/// dcnv2: multi-hot sizes of MLPerf Training v3.0, 214 indices per sample in all.
[[nodiscard]] std::span<NamedNumbers const> published_pooling();

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
