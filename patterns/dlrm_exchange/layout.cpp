// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "patterns/dlrm_exchange/layout.hpp"

#include "common/base/error.hpp"
#include "patterns/dlrm_exchange/placement.hpp"
#include "patterns/dlrm_exchange/placement_file.hpp"

#include <fmt/core.h>

#include <algorithm>

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

Layout cut(std::span<Table const> tables, LayoutRule const& rule) {
    Layout layout;
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

std::vector<std::uint64_t> loads(std::span<Table const> tables, std::span<Shard const> shards, Placement placement) {
    std::vector<std::uint64_t> values;
    values.reserve(shards.size());
    for (Shard const& shard : shards) {
        Table const& table = tables[shard.table];
        values.push_back(placement == Placement::size ? table.rows * shard.width : table.pooling);
    }
    return values;
}

}  // namespace

Layout make_layout(std::span<Table const> tables, LayoutRule const& rule, std::size_t ranks) {
    if (rule.placement == Placement::file) {
        return read_placement_file(rule.path, tables, rule.sharding, ranks);
    }
    Layout layout = cut(tables, rule);
    std::vector<std::size_t> const rank_of = rule.placement == Placement::round_robin
                                                 ? round_robin(layout.shards.size(), ranks)
                                                 : longest_first(loads(tables, layout.shards, rule.placement), ranks);
    for (std::size_t i = 0; i < rank_of.size(); ++i) {
        layout.shards[i].rank = rank_of[i];
    }
    return layout;
}

std::uint64_t rows_before(std::uint64_t rows, std::size_t rank, std::size_t ranks) {
    std::uint64_t const block = (rows + ranks - 1) / ranks;
    return std::min(block * rank, rows);
}

}  // namespace dlmb::dlrm_exchange
