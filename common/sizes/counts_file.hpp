// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Relative loads that a user measured: text with one line per source (source rank x bin) or one line for all sources.
// Numbers are separated by blanks or commas; '#' starts a comment; empty lines do not count.
#pragma once

#include <cstddef>
#include <iosfwd>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace dlmb {

class CountsTable {
public:
    CountsTable() = default;
    CountsTable(std::vector<double> values, std::size_t columns) : values_(std::move(values)), columns_(columns) {}

    [[nodiscard]] std::size_t columns() const { return columns_; }
    [[nodiscard]] std::size_t rows() const { return columns_ == 0 ? 0 : values_.size() / columns_; }
    /// The line of a source; a table of one line serves every source.
    [[nodiscard]] std::span<double const> row(std::size_t source) const {
        return std::span(values_).subspan(rows() == 1 ? 0 : source * columns_, columns_);
    }

private:
    std::vector<double> values_;
    std::size_t columns_ = 0;
};

/// What the table must look like.
struct CountsShape {
    std::size_t sources = 1;
    std::size_t bins = 1;
};

/// Throws UsageError naming file and line: not a number, wrong number of values, a line without any load, wrong number
/// of lines.
[[nodiscard]] CountsTable read_counts(std::istream& text, std::string const& name, CountsShape shape);
[[nodiscard]] CountsTable read_counts_file(std::string const& path, CountsShape shape);

}  // namespace dlmb
