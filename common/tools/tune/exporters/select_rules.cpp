// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/tools/tune/exporters/select_rules.hpp"

#include "common/base/error.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <set>
#include <tuple>

namespace dlmb::tuning {
namespace {

constexpr std::uint64_t most_listed_ranks = 64;

/// Why a rule does not hold in the slice as it does in the table; nothing: it does.
std::optional<Lost> loss_of(Rule const& rule, Slice const& slice, DistinguishedKeys keys) {
    When const& when = rule.when;
    // A value that the export leaves open does not put a rule that hands over into another slice.
    bool const hands_over = rule.scope == select_scope;
    for (auto const& [name, condition, value] :
         {std::tuple{"memory", &when.memory, &slice.memory}, std::tuple{"dtype", &when.dtype, &slice.dtype},
          std::tuple{"reduction", &when.reduction, &slice.reduction}}) {
        bool const any_value = (hands_over || (keys.memory && condition == &when.memory)) && value->empty();
        if (!any_value && !condition->empty() && *condition != *value) {
            return Lost{
                rule.id, LostReason::other_slice,
                fmt::format("holds for {} {}, exported is {}", name, *condition, value->empty() ? "none" : *value)};
        }
    }
    bool const any_nodes = (hands_over || keys.nodes) && !slice.nodes;
    if (!any_nodes && when.nodes && !(slice.nodes && when.nodes->contains(*slice.nodes))) {
        return Lost{rule.id, LostReason::other_slice,
                    fmt::format("holds for {} to {} nodes", when.nodes->min, when.nodes->max)};
    }
    bool const one_for_all =
        keys.imbalance && when.operation == TunedOperation::exchange && !when.uniform.value_or(false);
    // Rules of calls out of place stand for all calls, as they do where calls in place were not measured.
    bool const in_place = when.in_place.value_or(false);
    if (in_place || (when.imbalance && !one_for_all)) {
        return Lost{rule.id, LostReason::key_not_expressible,
                    fmt::format("the format has no key for '{}'", in_place ? "in_place" : "imbalance")};
    }
    return std::nullopt;
}

/// One choice for all sizes and imbalances of a segment, or nothing.
std::optional<ExportedRule> without_sizes(RankSegment const& segment, std::vector<Lost>& lost) {
    std::vector<ExportedRule> winners = segment.rules;
    std::erase_if(winners, [](ExportedRule const& one) { return one.keeps_default(); });
    if (winners.empty()) {
        return std::nullopt;
    }
    auto const lose_all = [&](std::string_view why) {
        for (ExportedRule const& winner : winners) {
            lose(lost, winner, LostReason::size_ignored,
                 fmt::format("alltoallv is chosen without its size and imbalance, {}", why));
        }
    };
    ExportedRule const& first = winners.front();
    bool const one_choice = std::all_of(segment.rules.begin(), segment.rules.end(), [&](ExportedRule const& one) {
        return one.keeps_default() ? one.rule->status != RuleStatus::no_gain : one.rule->choose == first.rule->choose;
    });
    if (!one_choice) {
        lose_all("and no one choice is best at all measured ones");
        return std::nullopt;
    }
    ByteInterval const all{0, no_limit};
    if (first.bytes != all || first.rule->when.imbalance) {
        lose_all("so this holds for others than were measured, too");
    }
    return ExportedRule{first.rule, segment.ranks, all};
}

}  // namespace

std::nullopt_t lose(std::vector<Lost>& lost, ExportedRule const& one, LostReason why, std::string detail) {
    lost.push_back({one.rule->id, why, std::move(detail)});
    return std::nullopt;
}

Selection select_rules(TuningTable const& table, std::string_view backend, Slice const& slice, DistinguishedKeys keys) {
    Selection selection;
    for (Rule const& rule : table.rules) {
        bool const hands_over = rule.scope == select_scope && rule.choose.backend != backend;
        if (rule.scope != backend && !hands_over) {
            continue;
        }
        auto loss = loss_of(rule, slice, keys);
        if (hands_over && !(loss && loss->why == LostReason::other_slice)) {
            loss = Lost{rule.id, LostReason::other_backend,
                        fmt::format("the table hands this to backend {}", rule.choose.backend)};
        }
        if (!loss) {
            selection.rules.push_back({&rule, rule.when.ranks.value_or(CountInterval{1, no_limit}),
                                       rule.when.bytes.value_or(ByteInterval{0, no_limit})});
        } else if (hands_over || !rule.choose.keeps_default()) {
            selection.lost.push_back(std::move(*loss));
        }
    }
    return selection;
}

std::vector<RankSegment> rank_segments(std::vector<ExportedRule> const& rules) {
    std::set<std::uint64_t> cuts;
    for (ExportedRule const& one : rules) {
        cuts.insert(one.ranks.min);
        if (one.ranks.max != no_limit) {
            cuts.insert(one.ranks.max + 1);
        }
    }
    std::vector<RankSegment> segments;
    for (auto cut = cuts.begin(); cut != cuts.end(); ++cut) {
        auto const next = std::next(cut);
        RankSegment segment{{*cut, next == cuts.end() ? no_limit : *next - 1}, {}};
        for (ExportedRule const& one : rules) {
            if (one.ranks.covers(segment.ranks)) {
                segment.rules.push_back({one.rule, segment.ranks, one.bytes});
            }
        }
        std::sort(segment.rules.begin(), segment.rules.end(),
                  [](ExportedRule const& one, ExportedRule const& other) { return one.bytes < other.bytes; });
        if (!segment.rules.empty()) {
            segments.push_back(std::move(segment));
        }
    }
    return segments;
}

std::vector<ExportedRule> split_ranks(std::vector<ExportedRule> const& rules, std::vector<Lost>& lost) {
    std::vector<ExportedRule> split;
    for (ExportedRule const& one : rules) {
        if (one.ranks.max == no_limit || one.ranks.max - one.ranks.min >= most_listed_ranks) {
            lose(lost, one, LostReason::range_limit,
                 fmt::format("sizes per rank need one entry for each number of ranks, {} at most", most_listed_ranks));
            continue;
        }
        for (std::uint64_t n = one.ranks.min; n <= one.ranks.max; ++n) {
            split.push_back({one.rule, {n, n}, one.bytes});
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

std::optional<MpiCall> collective_of(When const& when) {
    bool const equal = when.operation != TunedOperation::exchange || when.uniform.value_or(false);
    return mpi_call_for(kind_of(when.operation), equal);
}

std::vector<ExportedRule> rules_of(MpiCall collective, std::vector<ExportedRule> const& rules,
                                   std::vector<Lost>& lost) {
    std::vector<ExportedRule> mine = rules;
    std::erase_if(mine, [&](ExportedRule const& one) { return collective_of(one.rule->when) != collective; });
    if (collective != MpiCall::alltoallv) {
        std::erase_if(mine, [](ExportedRule const& one) { return one.keeps_default(); });
        return mine;
    }
    for (ExportedRule const& one : mine) {
        if (!one.rule->when.uniform && !one.keeps_default()) {
            lose(
                lost, one, LostReason::key_not_expressible,
                "holds for every exchange, but equal blocks sent by MPI_Alltoall keep the default; give them a rule of "
                "their own ('uniform': true)");
        }
    }
    std::vector<ExportedRule> without;
    for (RankSegment const& segment : rank_segments(mine)) {
        if (auto const one = without_sizes(segment, lost)) {
            without.push_back(*one);
        }
    }
    return without;
}

void lose_other_operations(std::vector<ExportedRule> const& rules, std::vector<Lost>& lost) {
    for (ExportedRule const& one : rules) {
        if (!collective_of(one.rule->when) && !one.keeps_default()) {
            lose(lost, one, LostReason::operation_not_tunable,
                 fmt::format("{} is no collective", name_of(one.rule->when.operation)));
        }
    }
}

}  // namespace dlmb::tuning
