// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "patterns/dlrm_exchange/layout.hpp"

#include "common/base/error.hpp"
#include "common/base/units.hpp"
#include "patterns/readers.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <functional>
#include <numeric>
#include <queue>
#include <sstream>
#include <string_view>
#include <utility>

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

}  // namespace

Layout make_layout(std::span<Table const> tables, LayoutRule const& rule, std::size_t ranks) {
    if (rule.placement == Placement::file) {
        return read_placement_file(rule.path, tables, rule.sharding, ranks);
    }
    Layout layout = cut(tables, rule);
    std::vector<std::uint64_t> loads;
    for (Shard const& shard : layout.shards) {
        Table const& table = tables[shard.table];
        loads.push_back(rule.placement == Placement::size      ? table.rows * shard.width
                        : rule.placement == Placement::pooling ? table.pooling
                                                               : 1);  // equal loads are dealt round
    }
    std::vector<std::size_t> const rank_of = longest_first(loads, ranks);
    for (std::size_t i = 0; i < rank_of.size(); ++i) {
        layout.shards[i].rank = rank_of[i];
    }
    return layout;
}

std::uint64_t rows_before(std::uint64_t rows, std::size_t rank, std::size_t ranks) {
    std::uint64_t const block = (rows + ranks - 1) / ranks;
    return std::min(block * rank, rows);
}

std::vector<std::size_t> longest_first(std::span<std::uint64_t const> loads, std::size_t ranks) {
    std::vector<std::size_t> order(loads.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return loads[a] > loads[b]; });
    using Filled = std::pair<std::uint64_t, std::size_t>;  // load, rank
    std::priority_queue<Filled, std::vector<Filled>, std::greater<>> least;
    for (std::size_t rank = 0; rank < ranks; ++rank) {
        least.emplace(0, rank);
    }
    std::vector<std::size_t> rank_of(loads.size());
    for (std::size_t const item : order) {
        auto const [load, rank] = least.top();
        least.pop();
        rank_of[item] = rank;
        least.emplace(load + loads[item], rank);
    }
    return rank_of;
}

Layout read_placement(std::istream& text, std::string const& name, std::span<Table const> tables, Sharding sharding,
                      std::size_t ranks) {
    Layout layout;
    std::size_t number = 0;
    std::size_t table = 0;
    auto const refuse = [&](std::string const& what) {
        throw UsageError(fmt::format("--placement {}:{}: {}", name, number, what));
    };
    for (std::string line; std::getline(text, line);) {
        ++number;
        std::vector<std::string_view> const places =
            words(std::string_view(line).substr(0, line.find('#')), " \t\v\f\r");
        if (places.empty()) {
            continue;
        }
        if (table == tables.size()) {
            refuse(fmt::format("more lines than the {} tables", tables.size()));
        }
        bool const everywhere = places.front() == "row" || places.front() == "data";
        if (everywhere && (places.size() != 1 || sharding != Sharding::mixed)) {
            refuse("'row' and 'data' stand alone and need --sharding mixed");
        }
        if (places.size() > 1 && sharding == Sharding::table) {
            refuse("several ranks share a table by columns; needs --sharding column or mixed");
        }
        std::uint64_t const dim = tables[table].dim;
        if (places.size() > dim) {
            refuse(fmt::format("{} ranks for the {} columns of the table", places.size(), dim));
        }
        if (everywhere) {
            (places.front() == "row" ? layout.row_wise : layout.replicated).push_back(table);
        }
        for (std::size_t part = 0; part < places.size() && !everywhere; ++part) {
            std::size_t const rank = parse_whole<std::size_t>(places[part]).value_or(ranks);
            if (rank >= ranks) {
                refuse(fmt::format("'{}': expected ranks below {}, 'row' or 'data'", places[part], ranks));
            }
            std::uint64_t const width = dim * (part + 1) / places.size() - dim * part / places.size();
            layout.shards.push_back({table, width, rank});
        }
        ++table;
    }
    if (table != tables.size()) {
        refuse(fmt::format("{} lines, expected {} (one per table)", table, tables.size()));
    }
    return layout;
}

Layout read_placement_file(std::string const& path, std::span<Table const> tables, Sharding sharding,
                           std::size_t ranks) {
    if (sharding == Sharding::row) {
        throw UsageError("--placement file: --sharding row has nothing to place; use table, column or mixed");
    }
    std::istringstream lines(read_option_file("--placement", path));
    return read_placement(lines, path, tables, sharding, ranks);
}

}  // namespace dlmb::dlrm_exchange
