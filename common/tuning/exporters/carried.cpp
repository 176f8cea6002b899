// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/tuning/exporters/carried.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <set>

namespace dlmb::tuning {
namespace {

constexpr std::uint64_t most_listed_ranks = 64;

}  // namespace

bool Carried::keeps_default() const {
    Choice const& choose = rule->choose;
    return choose.method == default_method && !choose.algorithm && choose.params == ChoiceParams{};
}

std::vector<RankSegment> rank_segments(std::vector<Carried> const& rules) {
    std::set<std::uint64_t> cuts;
    for (Carried const& one : rules) {
        cuts.insert(one.ranks.min);
        if (one.ranks.max != no_limit) {
            cuts.insert(one.ranks.max + 1);
        }
    }
    std::vector<RankSegment> segments;
    for (auto cut = cuts.begin(); cut != cuts.end(); ++cut) {
        auto const next = std::next(cut);
        RankSegment segment{{*cut, next == cuts.end() ? no_limit : *next - 1}, {}};
        std::copy_if(rules.begin(), rules.end(), std::back_inserter(segment.rules),
                     [&](Carried const& one) { return one.ranks.covers(segment.ranks); });
        std::sort(segment.rules.begin(), segment.rules.end(),
                  [](Carried const& one, Carried const& other) { return one.bytes < other.bytes; });
        if (!segment.rules.empty()) {
            segments.push_back(std::move(segment));
        }
    }
    return segments;
}

std::vector<Carried> split_ranks(std::vector<Carried> const& rules, std::vector<Lost>& lost) {
    std::vector<Carried> split;
    for (Carried one : rules) {
        CountInterval const ranks = one.ranks;
        if (ranks.max == no_limit || ranks.max - ranks.min >= most_listed_ranks) {
            lost.push_back(
                {one.rule->id, LostReason::range_limit,
                 fmt::format("sizes per rank need one entry for each number of ranks, {} at most", most_listed_ranks)});
            continue;
        }
        for (std::uint64_t n = ranks.min; n <= ranks.max; ++n) {
            one.ranks = {n, n};
            split.push_back(one);
        }
    }
    return split;
}

std::vector<Lost> in_order(std::vector<Lost> lost, TuningTable const& table) {
    auto const place = [&](Lost const& one) {
        return std::find_if(table.rules.begin(), table.rules.end(),
                            [&](Rule const& rule) { return rule.id == one.rule; }) -
               table.rules.begin();
    };
    std::stable_sort(lost.begin(), lost.end(), [&](Lost const& one, Lost const& other) {
        return std::pair{place(one), one.why} < std::pair{place(other), other.why};
    });
    auto const same = [](Lost const& one, Lost const& other) { return one.rule == other.rule && one.why == other.why; };
    lost.erase(std::unique(lost.begin(), lost.end(), same), lost.end());
    return lost;
}

}  // namespace dlmb::tuning
