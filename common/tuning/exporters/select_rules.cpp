// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/tuning/exporters/select_rules.hpp"

#include "common/base/error.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <set>

namespace dlmb::tuning {
namespace {

constexpr std::uint64_t most_listed_ranks = 64;

/// Takes one rule through the slice.
class Selector {
public:
    Selector(Rule const& rule, Slice const& slice, Keys keys)
        : rule_(rule), when_(rule.when), slice_(slice),
          keys_(keys), carried_{&rule, when_.ranks.value_or(CountInterval{1, no_limit}),
                                when_.bytes.value_or(ByteInterval{0, no_limit})} {}

    /// Nothing: lost, see lost().
    std::optional<Carried> pass() {
        check_words();
        check_keys();
        if (!keys_.nodes && when_.nodes && !(slice_.nodes && when_.nodes->contains(*slice_.nodes))) {
            lose(LostReason::other_slice, fmt::format("holds for {} to {} nodes", when_.nodes->min, when_.nodes->max));
        }
        return lost_ ? std::nullopt : std::optional{carried_};
    }
    [[nodiscard]] Lost lost() const { return *lost_; }

private:
    void lose(LostReason why, std::string detail) {
        if (!lost_) {
            lost_ = Lost{rule_.id, why, std::move(detail)};
        }
    }

    void check_word(std::string const& condition, std::string const& value, std::string_view name) {
        if (!condition.empty() && condition != value) {
            lose(LostReason::other_slice,
                 fmt::format("holds for {} {}, exported is {}", name, condition, value.empty() ? "none" : value));
        }
    }

    void check_words() {
        if (!keys_.memory) {
            check_word(when_.memory, slice_.memory, "memory");
        }
        check_word(when_.dtype, slice_.dtype, "dtype");
        check_word(when_.reduction, slice_.reduction, "reduction");
    }

    void check_key(bool present, std::string_view name) {
        if (present) {
            lose(LostReason::key_not_expressible, fmt::format("the format has no key for '{}'", name));
        }
    }

    void check_keys() {
        check_key(when_.in_place.has_value(), "in_place");
        bool const one_for_all =
            keys_.imbalance && when_.operation == TunedOperation::exchange && !when_.uniform.value_or(false);
        check_key(!one_for_all && when_.imbalance.has_value(), "imbalance");
    }

    Rule const& rule_;
    When const& when_;
    Slice const& slice_;
    Keys keys_;
    Carried carried_;
    std::optional<Lost> lost_;
};

}  // namespace

Selection select_rules(TuningTable const& table, std::string_view backend, Slice const& slice, Keys keys) {
    Selection selection;
    for (Rule const& rule : table.rules) {
        if (rule.scope == select_scope && rule.choose.backend != backend) {
            selection.lost.push_back({rule.id, LostReason::other_backend,
                                      fmt::format("the table hands this to backend {}", rule.choose.backend)});
        }
        if (rule.scope != backend) {
            continue;
        }
        Selector selector(rule, slice, keys);
        if (auto const carried = selector.pass()) {
            selection.rules.push_back(*carried);
        } else if (!rule.choose.keeps_default()) {
            selection.lost.push_back(selector.lost());
        }
    }
    return selection;
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

std::optional<ByteInterval> per_rank(ByteInterval bytes, std::uint64_t n) {
    if (n == 0) {
        throw UsageError("a size cannot be converted for 0 ranks");
    }
    Bytes const least = bytes.min / n + (bytes.min % n == 0 ? 0 : 1);
    Bytes const most = bytes.max / n;
    return least <= most ? std::optional{ByteInterval{least, most}} : std::nullopt;
}

}  // namespace dlmb::tuning
