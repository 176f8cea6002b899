// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// The part of a table that a consumer can hold when its format has no key for memory, element, reduction or nodes: one
// value of each.
#pragma once

#include "common/tuning/table.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace dlmb::tuning {

/// Empty or absent: unknown, so that only rules without this condition are carried.
struct Slice {
    std::optional<std::uint64_t> nodes;
    std::string memory;     // memory_words
    std::string dtype;      // element_words
    std::string reduction;  // reduction_words
    bool operator==(Slice const&) const = default;
};

/// Fills what is unknown with the only value that the rules of `scope` name. Throws UsageError where they name several:
/// the user must say which one the export is for.
[[nodiscard]] Slice complete(Slice slice, TuningTable const& table, std::string_view scope);

}  // namespace dlmb::tuning
