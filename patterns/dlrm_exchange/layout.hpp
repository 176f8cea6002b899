// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Where the embedding tables live: which are cut how, and which rank has what.
//
//   table   a whole table on one rank                        coarse: few messages, uneven load
//   column  slices of `column_width` values, each on a rank  every slice needs all indices of its table
//   row     blocks of ceil(rows / ranks) rows on all ranks    fine: even load, a message to everybody
//   mixed   rows < replicate_below: on every rank (data parallel); rows >= row_wise_from: row; the others: table
#pragma once

#include "patterns/dlrm_exchange/model.hpp"
#include "patterns/placement.hpp"

#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <span>
#include <string>
#include <vector>

namespace dlmb::dlrm_exchange {

enum class Sharding { table, row, column, mixed };

struct LayoutRule {
    Sharding sharding = Sharding::table;
    PlacementRule placement{.kind = PlacementRule::Kind::cyclic};
    std::uint64_t column_width = 0;
    std::uint64_t row_wise_from = 0;    // rows
    std::uint64_t replicate_below = 0;  // rows
};

/// All rows of a table, `width` of its columns, on one rank.
struct Shard {
    std::size_t table = 0;
    std::uint64_t width = 0;
    std::size_t rank = 0;
};

struct ShardLayout {
    std::vector<Shard> shards;  // table-wise and column-wise, by table
    std::vector<std::size_t> row_wise;
    std::vector<std::size_t> replicated;
};

/// Shards are the units of the placement, tables its items. lpt:size balances rows * width of a shard, lpt:pooling its
/// mean indices per sample. Throws UsageError.
[[nodiscard]] ShardLayout make_layout(std::span<PooledTable const> tables, LayoutRule const& rule, std::size_t ranks);

/// Rows of a row-wise table that lie on the ranks before `rank` (torchrec: equal blocks, the last ranks may have none).
[[nodiscard]] std::uint64_t rows_before(std::uint64_t rows, std::size_t rank, std::size_t ranks);

/// A placement that a planner or a person wrote: text, one line per table in order. '#' starts a comment.
///
///   3        the whole table on rank 3
///   0 2 5    its columns in three equal parts on ranks 0, 2 and 5     (--sharding column or mixed)
///   row      its rows over all ranks                                  (--sharding mixed)
///   data     a copy on every rank                                     (--sharding mixed)
///
/// Throws UsageError naming file and line.
[[nodiscard]] ShardLayout read_placement(std::istream& text, std::string const& name,
                                         std::span<PooledTable const> tables, Sharding sharding, std::size_t ranks);

}  // namespace dlmb::dlrm_exchange
