// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "patterns/dlrm_exchange/layout.hpp"

#include "common/base/error.hpp"
#include "patterns/readers.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <sstream>
#include <string_view>

namespace dlmb::dlrm_exchange {
namespace {

constexpr std::size_t max_shards = std::size_t{1} << 20;

void add_slices(std::size_t table, std::uint64_t dim, std::uint64_t width, std::vector<Shard>& shards) {
    for (std::uint64_t begin = 0; begin < dim; begin += width) {
        if (shards.size() == max_shards) {
            throw UsageError(fmt::format("--column-width {}: cuts the tables into more than {} slices; make it larger",
                                         width, max_shards));
        }
        shards.push_back({table, std::min(width, dim - begin), 0});
    }
}

ShardLayout cut(std::span<PooledTable const> tables, LayoutRule const& rule) {
    ShardLayout layout;
    for (std::size_t t = 0; t < tables.size(); ++t) {
        bool const mixed = rule.sharding == Sharding::mixed;
        if (mixed && tables[t].rows < rule.replicate_below) {
            layout.replicated.push_back(t);
        } else if (rule.sharding == Sharding::row || (mixed && tables[t].rows >= rule.row_wise_from)) {
            layout.row_wise.push_back(t);
        } else {
            bool const columns = rule.sharding == Sharding::column;
            add_slices(t, tables[t].dim, columns ? rule.column_width : tables[t].dim, layout.shards);
        }
    }
    return layout;
}

}  // namespace

ShardLayout make_layout(std::span<PooledTable const> tables, LayoutRule const& rule, std::size_t ranks) {
    if (rule.placement.kind == PlacementRule::Kind::file) {
        if (rule.sharding == Sharding::row) {
            throw UsageError("--placement file: --sharding row has nothing to place; use table, column or mixed");
        }
        std::istringstream lines(read_option_file("--placement", rule.placement.path));
        return read_placement(lines, rule.placement.path, tables, rule.sharding, ranks);
    }
    ShardLayout layout = cut(tables, rule);
    std::vector<PlacedUnit> units;
    for (Shard const& shard : layout.shards) {
        PooledTable const& table = tables[shard.table];
        units.push_back({shard.table, rule.placement.load == "pooling" ? table.pooling : table.rows * shard.width});
    }
    std::vector<std::size_t> const rank_of = place(rule.placement, units, ranks);
    for (std::size_t i = 0; i < rank_of.size(); ++i) {
        layout.shards[i].rank = rank_of[i];
    }
    return layout;
}

std::uint64_t rows_before(std::uint64_t rows, std::size_t rank, std::size_t ranks) {
    std::uint64_t const block = (rows + ranks - 1) / ranks;
    return std::min(block * rank, rows);
}

ShardLayout read_placement(std::istream& text, std::string const& name, std::span<PooledTable const> tables,
                           Sharding sharding, std::size_t ranks) {
    constexpr std::array<std::string_view, 2> everywhere{"row", "data"};
    PlacementFile const file{"--placement", name, "table", tables.size(), ranks, everywhere};
    std::vector<PlacementLine> const lines = file.read(text);
    ShardLayout layout;
    for (std::size_t table = 0; table < lines.size(); ++table) {
        PlacementLine const& line = lines[table];
        if (!line.word.empty() && sharding != Sharding::mixed) {
            file.refuse(line.number, "'row' and 'data' need --sharding mixed");
        }
        if (line.ranks.size() > 1 && sharding == Sharding::table) {
            file.refuse(line.number, "several ranks share a table by columns; needs --sharding column or mixed");
        }
        std::uint64_t const dim = tables[table].dim;
        if (line.ranks.size() > dim) {
            file.refuse(line.number, fmt::format("{} ranks for the {} columns of the table", line.ranks.size(), dim));
        }
        if (!line.word.empty()) {
            (line.word == "row" ? layout.row_wise : layout.replicated).push_back(table);
        }
        for (std::size_t part = 0; part < line.ranks.size(); ++part) {
            std::uint64_t const width = dim * (part + 1) / line.ranks.size() - dim * part / line.ranks.size();
            layout.shards.push_back({table, width, line.ranks[part]});
        }
    }
    return layout;
}

}  // namespace dlmb::dlrm_exchange
