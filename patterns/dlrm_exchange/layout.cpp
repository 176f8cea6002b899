// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "patterns/dlrm_exchange/layout.hpp"

#include "common/base/error.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <functional>
#include <numeric>
#include <queue>
#include <sstream>
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

std::vector<std::uint64_t> loads(std::span<Table const> tables, std::span<Shard const> shards, Placement placement) {
    std::vector<std::uint64_t> values;
    values.reserve(shards.size());
    for (Shard const& shard : shards) {
        Table const& table = tables[shard.table];
        values.push_back(placement == Placement::size ? table.rows * shard.width : table.pooling);
    }
    return values;
}

class PlacementReader {
public:
    PlacementReader(std::string const& file, std::span<Table const> tables, Sharding sharding, std::size_t ranks)
        : file_(file), tables_(tables), sharding_(sharding), ranks_(ranks) {}

    void line(std::string_view text) {
        ++line_;
        std::istringstream stream(std::string(text.substr(0, text.find('#'))));
        std::vector<std::string> words;
        for (std::string word; stream >> word;) {
            words.push_back(word);
        }
        if (words.empty()) {
            return;
        }
        if (table_ == tables_.size()) {
            refuse(fmt::format("more lines than the {} tables", tables_.size()));
        }
        place(words);
        ++table_;
    }

    [[nodiscard]] Layout finish() && {
        if (table_ != tables_.size()) {
            refuse(fmt::format("{} lines, expected {} (one per table)", table_, tables_.size()));
        }
        return std::move(layout_);
    }

private:
    [[noreturn]] void refuse(std::string const& what) const {
        throw UsageError(fmt::format("--placement {}:{}: {}", file_, line_, what));
    }

    void place(std::vector<std::string> const& words) {
        bool const everywhere = words.front() == "row" || words.front() == "data";
        if (everywhere && (words.size() != 1 || sharding_ != Sharding::mixed)) {
            refuse("'row' and 'data' stand alone and need --sharding mixed");
        }
        if (everywhere) {
            (words.front() == "row" ? layout_.row_wise : layout_.replicated).push_back(table_);
            return;
        }
        std::uint64_t const dim = tables_[table_].dim;
        if (words.size() > 1 && sharding_ == Sharding::table) {
            refuse("several ranks share a table by columns; needs --sharding column or mixed");
        }
        if (words.size() > dim) {
            refuse(fmt::format("{} ranks for the {} columns of the table", words.size(), dim));
        }
        for (std::size_t part = 0; part < words.size(); ++part) {
            std::uint64_t const width = dim * (part + 1) / words.size() - dim * part / words.size();
            layout_.shards.push_back({table_, width, rank(words[part])});
        }
    }

    [[nodiscard]] std::size_t rank(std::string const& word) const {
        std::size_t value = 0;
        auto const [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
        if (error != std::errc{} || end != word.data() + word.size() || value >= ranks_) {
            refuse(fmt::format("'{}': expected ranks below {}, 'row' or 'data'", word, ranks_));
        }
        return value;
    }

    std::string const& file_;
    std::span<Table const> tables_;
    Sharding sharding_;
    std::size_t ranks_;
    std::size_t line_ = 0;
    std::size_t table_ = 0;
    Layout layout_;
};

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

std::vector<std::size_t> round_robin(std::size_t items, std::size_t ranks) {
    std::vector<std::size_t> rank_of(items);
    for (std::size_t item = 0; item < items; ++item) {
        rank_of[item] = item % ranks;
    }
    return rank_of;
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
    PlacementReader reader(name, tables, sharding, ranks);
    std::string line;
    while (std::getline(text, line)) {
        reader.line(line);
    }
    return std::move(reader).finish();
}

Layout read_placement_file(std::string const& path, std::span<Table const> tables, Sharding sharding,
                           std::size_t ranks) {
    if (sharding == Sharding::row) {
        throw UsageError("--placement file: --sharding row has nothing to place; use table, column or mixed");
    }
    std::ifstream file(path);
    if (!file) {
        throw UsageError(fmt::format("--placement file:{}: cannot be opened", path));
    }
    return read_placement(file, path, tables, sharding, ranks);
}

}  // namespace dlmb::dlrm_exchange
