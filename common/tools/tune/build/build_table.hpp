// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// From observations of several launches to the rules of a table: decisions at single sizes, and ranges of sizes: where
// one choice ends and the next begins.
#pragma once

#include "common/tools/tune/build/decision.hpp"

#include <span>
#include <string>
#include <vector>

namespace dlmb::tuning {

/// A measured size and what was decided there.
struct MeasuredPoint {
    Bytes bytes = 0;
    Decision decision;
};

struct ChoiceRegion {
    ByteInterval bytes;
    std::optional<Choice> choice;       // nullopt: the default stays
    std::optional<Choice> candidate;    // looks better than the default that stays: all points are open, by one outcome
    std::vector<MeasuredPoint> points;  // measured inside, ascending
};

/// Neighbouring measured sizes further apart than this factor say nothing of those between them, even where both made
/// one choice: in such a gap that choice has been seen to take twice the default's time. A doubling grid is just dense
/// enough.
inline constexpr Bytes widest_gap = 2;

/// The regions of one scope and conditions; `points` ascending, each size once. Equal neighbours join, and where the
/// default stays those that are open join only by one candidate and outcome; a gap next to the default is the
/// default's; between two others the cut is at floor(sqrt(s1 * s2)). A gap wider than `widest_gap` has no rule, unless
/// the default holds on a side of it. A choice that was not confirmed holds only where `policy.hysteresis` adjacent
/// sizes agree; those of foreign evidence may be far apart. Nothing reaches beyond the measured sizes.
/// `accept_unconfirmed`: choices that no fresh launch has seen count, too.
[[nodiscard]] std::vector<ChoiceRegion> regions_of(std::span<MeasuredPoint const> points, Policy const& policy,
                                                   bool accept_unconfirmed);

/// floor(sqrt(a * b)) for a <= b, exact.
[[nodiscard]] Bytes geometric_middle(Bytes a, Bytes b);

/// Points of one scope and key, ascending.
struct Series {
    std::string scope;
    Key key;  // without the size
    std::vector<MeasuredPoint> points;
};

struct Built {
    std::vector<Series> series;
    std::vector<Rule> rules;
};

/// Methods inside each backend, then which backend is selected. Throws UsageError where exchanges of several --skew
/// would have one rule. `confirm`: fresh launches; a size where they have nothing to say stays unconfirmed. Sizes,
/// launches and gains of a rule are those of all points inside it.
[[nodiscard]] Built build_rules(std::vector<Observation> const& search, std::vector<Observation> const& confirm,
                                Policy const& policy, bool accept_unconfirmed);

}  // namespace dlmb::tuning
