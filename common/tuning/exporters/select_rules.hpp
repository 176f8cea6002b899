// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// The rules of a table that concern one consumer, reduced to what all formats share: ranks and bytes. What falls out on
// the way is lost, with its reason.
#pragma once

#include "common/tuning/exporters/export.hpp"

#include <optional>
#include <vector>

namespace dlmb::tuning {

/// A rule inside an export.
struct Carried {
    Rule const* rule = nullptr;
    CountInterval ranks;
    ByteInterval bytes;  // native basis
    /// The library's own choice: nothing to write, but known to be measured.
    [[nodiscard]] bool keeps_default() const { return rule->choose.keeps_default(); }
};

/// Conditions that the format of a consumer has itself; the others come from the slice or are lost.
struct Keys {
    bool memory = false;
    bool nodes = false;
    bool imbalance = false;  // the exporter finds one choice for all of it (rules_of)
};

struct Selection {
    std::vector<Carried> rules;  // in the order of the table
    std::vector<Lost> lost;
};

/// The rules in scope `backend` that hold in the slice. Rules of scope "select" that choose another backend are lost.
[[nodiscard]] Selection select_rules(TuningTable const& table, std::string_view backend, Slice const& slice, Keys keys);

/// Rules that hold for the same ranks; in a valid table their bytes are disjoint.
struct RankSegment {
    CountInterval ranks;
    std::vector<Carried> rules;  // by bytes
};

/// Cuts the ranks at every bound of a rule. Ascending; ranks without a rule are in no segment.
[[nodiscard]] std::vector<RankSegment> rank_segments(std::vector<Carried> const& rules);

/// One Carried per number of ranks, for formats whose size unit depends on it. Rules of more than 64 numbers are lost.
[[nodiscard]] std::vector<Carried> split_ranks(std::vector<Carried> const& rules, std::vector<Lost>& lost);

/// The rules' order in the table, each reason once: rules that were cut into pieces lose each piece.
[[nodiscard]] std::vector<Lost> in_order(std::vector<Lost> lost, TuningTable const& table);

/// [ceil(min / n), floor(max / n)]: sizes per rank whose n-fold lies in `bytes`; nullopt: there is none. Throws
/// UsageError for n = 0.
[[nodiscard]] std::optional<ByteInterval> per_rank(ByteInterval bytes, std::uint64_t n);

}  // namespace dlmb::tuning
