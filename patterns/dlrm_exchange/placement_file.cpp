// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "patterns/dlrm_exchange/placement_file.hpp"

#include "common/base/error.hpp"

#include <fmt/core.h>

#include <charconv>
#include <fstream>
#include <sstream>

namespace dlmb::dlrm_exchange {
namespace {

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
