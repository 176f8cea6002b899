// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// The weight of every bin as one source sees it: a skew applied to bins that live on owners, or counts that a user
// measured. Pure: the same answer on every rank. Which bin is popular depends on (seed, layer), not on the draw:
// experts stay hot over iterations. And the weights of each family, as pure functions in sorted order (where the order
// of bins carries no meaning). Relative: only ratios matter. Exact arithmetic, so that every compiler gives the same
// bits.
#pragma once

#include "common/base/philox.hpp"
#include "common/sizes/skew.hpp"

#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <span>
#include <string>
#include <vector>

namespace dlmb {

/// The sigma of a lognormal distribution with this Gini coefficient: sqrt(2) * quantile((gini + 1) / 2).
[[nodiscard]] double lognormal_sigma(double gini);

/// exp(sigma * quantile((i + 0.5) / bins)): stratified, ascending, no sampling noise.
[[nodiscard]] std::vector<double> lognormal_weights(std::size_t bins, double gini);

/// (i + 1)^-exponent.
[[nodiscard]] std::vector<double> zipf_weights(std::size_t bins, double exponent);

/// The bins that are chosen among. `items` per source choose `picks` different bins each.
struct Bins {
    std::vector<std::size_t> owner_of;  // ascending: the owner (rank of the group) of each bin
    std::uint64_t items = 0;
    std::uint64_t picks = 1;
    std::size_t sources = 1;  // lines that a counts file may have
};

/// A truncated power law: integer loads that sum to items * picks, none above items: independent draws from x^-alpha on
/// [1, 0.8 * items] (on [0.01, 2] when there are at most as many picks as bins), scaled and rounded; the remainder goes
/// round-robin over the owners; the heaviest owner changes places with the first. The shape of NVIDIA aiconfigurator's
/// power-law workloads.
[[nodiscard]] std::vector<std::uint64_t> power_law_loads(double alpha, Bins const& bins, RandomSequence& random);

/// Relative loads that a user measured: text with one line per source (source rank x bin) or one line for all sources.
/// Numbers are separated by blanks or commas; '#' starts a comment; empty lines do not count.
struct CountsTable {
    std::vector<std::vector<double>> lines;
    /// The line of a source; a table of one line serves every source.
    [[nodiscard]] std::vector<double> const& row(std::size_t source) const {
        return lines[lines.size() == 1 ? 0 : source];
    }
};

/// The shape that the table must have.
struct CountsShape {
    std::size_t sources = 1;
    std::size_t bins = 1;
};

/// Throws UsageError naming file and line: not a number, wrong number of values, a line without any load, wrong number
/// of lines.
[[nodiscard]] CountsTable read_counts(std::istream& text, std::string const& name, CountsShape shape);
[[nodiscard]] CountsTable read_counts_file(std::string const& path, CountsShape shape);

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
