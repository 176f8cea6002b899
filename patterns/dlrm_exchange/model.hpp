// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// The model: its embedding tables, which --tables, --rows, --dim and --pooling say together, the lists of numbers that
// these options take, and its dense layers. The comma separates the points of a sweep, so a list has '+': "64" (one
// number for all), "3+2+26x1" (26x1: twenty-six times 1), a published list by name, or file:PATH (the same entries
// separated by blanks, commas or lines; '#' starts a comment).
#pragma once

#include "patterns/pattern.hpp"

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace dlmb::dlrm_exchange {

/// A decimal number times 1,000,000: mean bag sizes have fractions, and counts must be exact.
using Millionths = std::uint64_t;
inline constexpr Millionths one = 1'000'000;

/// The prefix of a value that names a file.
inline constexpr std::string_view file_prefix = "file:";

/// A list that is known by name; `text` is in the syntax above.
struct NamedNumbers {
    std::string_view name;
    std::string_view text;
};

/// The numbers that a list may hold.
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
inline constexpr NamedNumbers published_rows[] = {
    {"mlperf-v1", "45833188+36746+17245+7413+20243+3+7114+1441+62+29275261+1572176+345138+10+2209+11267+128+4+974+14+"
                  "48937457+11316796+40094537+452104+12606+104+35"},
    {"dcnv2", "40000000+39060+17295+7424+20265+3+7122+1543+63+40000000+3067956+405282+10+2209+11938+155+4+976+14+"
              "40000000+40000000+40000000+590152+12973+108+36"},
};

/// dcnv2: multi-hot sizes of MLPerf Training v3.0, 214 indices per sample in all.
inline constexpr NamedNumbers published_pooling[] = {
    {"dcnv2", "3+2+1+2+6+1+1+1+1+7+3+8+1+6+9+5+1+1+1+12+100+27+10+3+1+1"},
};

struct PooledTable {
    std::uint64_t rows = 1;
    std::uint64_t dim = 1;     // values per row
    Millionths pooling = one;  // mean indices per bag ("multi-hot size")
};

inline constexpr std::uint64_t max_rows = 0xFFFF'FFFF;  // a product of two row numbers fits 64 bits
inline constexpr std::uint64_t max_dim = std::uint64_t{1} << 20;
inline constexpr std::uint64_t max_pooling = std::uint64_t{1} << 16;

/// Each list has one number for all tables or one per table. `--tables 0`: as many as the longest list, 26 (those of
/// Criteo's data) when each is one number. Throws UsageError that says which lengths do not fit.
[[nodiscard]] std::vector<PooledTable> read_tables(Parameters const& parameters);

/// How many parameters the dense layers have: one gradient element each in the allreduces.
///
/// Reads "13-512-256-128", the widths of an MLP from its input on: every layer has inputs * outputs weights and outputs
/// biases (facebookresearch/dlrm, create_mlp). A single number is the number of parameters itself; 0: no such layers.
/// Throws UsageError naming `option`.
[[nodiscard]] std::uint64_t mlp_parameters(std::string_view text, std::string_view option);

/// Reads "LAYERSxRANK", the low-rank cross layers of DCN v2 over vectors of `width` values: each has two
/// width * rank matrices and width biases (torchrec, LowRankCrossNet). "0": none. Throws UsageError naming --cross.
[[nodiscard]] std::uint64_t cross_parameters(std::string_view text, std::uint64_t width);

/// The first width of an MLP; 0 when the text is a number of parameters.
[[nodiscard]] std::uint64_t input_width(std::string_view mlp, std::string_view option);

}  // namespace dlmb::dlrm_exchange
