// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// The weight of every bin as one source sees it: a skew applied to bins that live on owners, or counts that a user
// measured. Pure: the same answer on every rank. Which bin is popular depends on (seed, layer), not on the draw:
// experts stay hot over iterations.
#pragma once

#include "common/sizes/skew.hpp"

#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace dlmb {

/// Relative loads that a user measured: text with one line per source (source rank x bin) or one line for all sources.
/// Numbers are separated by blanks or commas; '#' starts a comment; empty lines do not count.
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

/// The bins that are chosen among. `items` per source choose `picks` bins each.
struct Bins {
    std::vector<std::size_t> owner_of;  // ascending: the owner (rank of the group) of each bin
    std::uint64_t items = 0;
    std::uint64_t picks = 1;
    std::size_t sources = 1;  // lines that a counts file may have
};

class Weights {
public:
    /// Reads the counts file where the skew names one.
    Weights(Skew skew, Bins bins);

    /// Weights for one source, the largest 1: a bin of weight 0 gets 2^-40, so that it is chosen only when no other is
    /// left. Without the factor of intra_host: which bins are near is the caller's knowledge.
    [[nodiscard]] std::vector<double> of(std::size_t source, std::uint64_t seed, std::uint32_t layer) const;

    [[nodiscard]] Skew const& skew() const { return skew_; }

private:
    Skew skew_;
    Bins bins_;
    std::vector<double> sorted_;  // lognormal, zipf: weights before they get their places
    CountsTable counts_;
};

}  // namespace dlmb
