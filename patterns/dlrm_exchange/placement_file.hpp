// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// A placement that a planner or a person wrote: text, one line per table in order. '#' starts a comment.
//
//   3        the whole table on rank 3
//   0 2 5    its columns in three equal parts on ranks 0, 2 and 5     (--sharding column or mixed)
//   row      its rows over all ranks                                  (--sharding mixed)
//   data     a copy on every rank                                     (--sharding mixed)
#pragma once

#include "patterns/dlrm_exchange/layout.hpp"

#include <cstddef>
#include <iosfwd>
#include <span>
#include <string>

namespace dlmb::dlrm_exchange {

/// Throws UsageError naming file and line.
[[nodiscard]] Layout read_placement(std::istream& text, std::string const& name, std::span<Table const> tables,
                                    Sharding sharding, std::size_t ranks);
[[nodiscard]] Layout read_placement_file(std::string const& path, std::span<Table const> tables, Sharding sharding,
                                         std::size_t ranks);

}  // namespace dlmb::dlrm_exchange
