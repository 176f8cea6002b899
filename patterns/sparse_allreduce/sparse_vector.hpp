// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Sparse vectors as pairs of index and value: added, and cut down to their largest values.
#pragma once

#include "common/base/units.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace dlmb::sparse_allreduce {

/// One value as it travels: two words. An index is a whole number, exact up to 2^32.
struct SparseEntry {
    std::uint32_t index = 0;
    float value = 0;
    bool operator==(SparseEntry const&) const = default;
};
inline constexpr Bytes word_bytes = 4;
inline constexpr std::uint64_t words_per_entry = 2;
inline constexpr Bytes entry_bytes = words_per_entry * word_bytes;
static_assert(sizeof(SparseEntry) == entry_bytes);

/// By index, each index once.
using SparseVector = std::vector<SparseEntry>;

/// At every index the sum of the values there, in the order of `terms`.
[[nodiscard]] SparseVector sum_of(std::span<std::span<SparseEntry const> const> terms);
[[nodiscard]] SparseVector sum_of(std::span<SparseVector const> terms);

/// The `count` entries of largest magnitude, of equal ones those of lower index; all where there are fewer.
[[nodiscard]] SparseVector largest(std::span<SparseEntry const> entries, std::size_t count);

/// The smallest magnitude; 0 of none.
[[nodiscard]] double least_magnitude(std::span<SparseEntry const> entries);

/// The entries with a magnitude of `threshold` or more.
[[nodiscard]] SparseVector at_least(std::span<SparseEntry const> entries, double threshold);

/// The entries with begin <= index < end.
[[nodiscard]] std::span<SparseEntry const> part_of(std::span<SparseEntry const> entries, std::uint64_t begin,
                                                   std::uint64_t end);

}  // namespace dlmb::sparse_allreduce
