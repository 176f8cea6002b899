// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Which rank has what: a rule that a user names, and what it makes of units (shards of embedding tables, experts). A
// unit is never divided; units of one item (the slices of a table, the experts that were neighbours) belong together.
//
//   block    the first units on rank 0, the next on rank 1, ...; their numbers differ by at most one
//   cyclic   unit i on rank i mod ranks
//   coarse   items in random order, each whole on the next rank      few ranks per item, uneven load
//   fine     items in random order, their units dealt one by one     many ranks per item, even load
//   lpt      units by falling load, each to the rank with the least so far
//   file     what a file says
//
// coarse and fine are the static distributions of HONPAS (arXiv 2009.03559). A placement depends on the units, the
// number of ranks and the rule's seed only.
#pragma once

#include "patterns/pattern.hpp"

#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace dlmb {

struct PlacementRule {
    enum class Kind { none, block, cyclic, coarse, fine, lpt, eplb, file };
    Kind kind = Kind::block;
    std::uint64_t seed = 1;  // of coarse and fine
    std::string load{};      // of lpt: what is balanced, where there is a choice
    std::string path{};      // of file
};

/// Further choices that a pattern has beside the rules above.
struct PlacementChoices {
    std::span<std::string_view const> loads{};  // lpt:LOAD; lpt alone means the first
    bool eplb = false;
    bool none = false;
};

/// Reads block, cyclic, coarse[:SEED], fine[:SEED], lpt[:LOAD], file:PATH, and where there are choices eplb, none.
/// Throws UsageError.
[[nodiscard]] PlacementRule read_placement_rule(Parameters const& parameters, std::string_view name,
                                                PlacementChoices const& choices = {});

struct PlacedUnit {
    std::size_t item = 0;  // units of an item stand one behind the other
    std::uint64_t load = 1;
};

/// The rank of each unit. Not of the kinds none, eplb and file, which need more than units.
[[nodiscard]] std::vector<std::size_t> place(PlacementRule const& rule, std::span<PlacedUnit const> units,
                                             std::size_t ranks);

/// Longest processing time first (Graham 1969): items by falling load, each to the rank with the least so far. The
/// largest total is at most 4/3 - 1/(3 ranks) times the least possible. Ties go to the lower item and the lower rank.
[[nodiscard]] std::vector<std::size_t> longest_first(std::span<std::uint64_t const> loads, std::size_t ranks);

/// A line of a placement file: ranks, or one word instead of them.
struct PlacementLine {
    std::size_t number = 0;  // in the file, from 1
    std::vector<std::size_t> ranks;
    std::string word;
};

/// Content of a placement file for things called `noun`, in order: one line for each, '#' starts a comment.
struct PlacementFile {
    std::string_view option;  // with dashes; both are named in messages
    std::string name;
    std::string_view noun;
    std::size_t things = 0;
    std::size_t ranks = 0;
    std::span<std::string_view const> words{};

    /// Throws UsageError naming file and line.
    [[nodiscard]] std::vector<PlacementLine> read(std::istream& text) const;
    [[noreturn]] void refuse(std::size_t line, std::string_view what) const;
};

}  // namespace dlmb
