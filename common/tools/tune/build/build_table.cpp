// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/tools/tune/build/build_table.hpp"

#include "common/base/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

namespace dlmb::tuning {
namespace {

using PointChoices = std::vector<std::optional<Choice>>;

bool counts(Decision const& decision, bool accept_unconfirmed) {
    return decision.outcome == Outcome::chosen || decision.outcome == Outcome::foreign ||
           (accept_unconfirmed && decision.outcome == Outcome::unconfirmed &&
            (!decision.evidence || bears_out(*decision.evidence)));
}

bool far_apart(MeasuredPoint const& left, MeasuredPoint const& right) {
    return (right.bytes - 1) / widest_gap >= std::max<Bytes>(left.bytes, 1);
}

/// The choice at each point; runs of unconfirmed choices that are too short fall back to the default.
PointChoices choices_at(std::span<MeasuredPoint const> points, Policy const& policy, bool accept_unconfirmed) {
    PointChoices choices;
    for (MeasuredPoint const& point : points) {
        choices.push_back(counts(point.decision, accept_unconfirmed) ? point.decision.winner : std::nullopt);
    }
    for (std::size_t first = 0; first < choices.size();) {
        std::size_t end = first + 1;
        bool confirmed = points[first].decision.outcome == Outcome::chosen;
        bool const foreign = points[first].decision.outcome == Outcome::foreign;
        while (end < choices.size() && choices[end] == choices[first] &&
               (foreign || !far_apart(points[end - 1], points[end]))) {
            confirmed = confirmed || points[end].decision.outcome == Outcome::chosen;
            ++end;
        }
        if (!confirmed && end - first < policy.hysteresis) {
            std::fill(choices.begin() + static_cast<std::ptrdiff_t>(first),
                      choices.begin() + static_cast<std::ptrdiff_t>(end), std::nullopt);
        }
        first = end;
    }
    return choices;
}

/// Undecided, or unconfirmed or foreign and not counted: the default stays because nobody knows better yet.
bool stays_open(MeasuredPoint const& point, std::optional<Choice> const& choice) {
    Outcome const outcome = point.decision.outcome;
    return !choice && (outcome == Outcome::undecided || outcome == Outcome::unconfirmed || outcome == Outcome::foreign);
}

bool equal_neighbours(std::span<MeasuredPoint const> points, PointChoices const& choices, std::size_t i) {
    bool const left = stays_open(points[i - 1], choices[i - 1]);
    bool const right = stays_open(points[i], choices[i]);
    bool const one_candidate = points[i - 1].decision.outcome == points[i].decision.outcome &&
                               points[i - 1].decision.winner == points[i].decision.winner;
    return choices[i] == choices[i - 1] && left == right && (!left || one_candidate);
}

/// The last size of the gap between two neighbours that goes to the left one.
Bytes last_of_left(MeasuredPoint const& left, MeasuredPoint const& right, std::optional<Choice> const& a,
                   std::optional<Choice> const& b) {
    if (!a) {
        return right.bytes - 1;
    }
    return b ? geometric_middle(left.bytes, right.bytes) : left.bytes;
}

/// Whether no rule holds between the points i - 1 and i.
bool gap_before(std::size_t i, std::span<MeasuredPoint const> points, PointChoices const& choices) {
    return choices[i - 1] && choices[i] && far_apart(points[i - 1], points[i]);
}

/// Rules know the imbalance and not what made it.
void require_one_skew(std::vector<Observation> const& search, std::vector<Observation> const& confirm) {
    std::map<std::pair<std::string, Key>, std::string> skews;
    for (std::vector<Observation> const* all : {&search, &confirm}) {
        for (Observation const& seen : *all) {
            Key key = seen.key;
            key.bytes.reset();
            std::string const& first = skews.try_emplace({seen.competitor.backend, key}, seen.skew).first->second;
            if (first != seen.skew) {
                throw UsageError(fmt::format("exchanges of --skew {} and --skew {} are about as uneven as each other "
                                             "({:.2f}), so that one rule would be for both; build from one of them",
                                             first, seen.skew, key.imbalance.value_or(1)));
            }
        }
    }
}

std::vector<Series> series_of(std::vector<Comparison> const& comparisons, std::vector<Decision> const& decisions) {
    std::map<std::pair<std::string, Key>, std::vector<MeasuredPoint>> points;
    for (std::size_t i = 0; i < comparisons.size(); ++i) {
        Key key = comparisons[i].key;
        Bytes const bytes = std::exchange(key.bytes, std::nullopt).value();
        points[{comparisons[i].scope, key}].push_back({bytes, decisions[i]});
    }
    std::vector<Series> all;
    for (auto& [place, of_place] : points) {
        std::sort(of_place.begin(), of_place.end(),
                  [](MeasuredPoint const& a, MeasuredPoint const& b) { return a.bytes < b.bytes; });
        all.push_back({place.first, place.second, std::move(of_place)});
    }
    return all;
}

template <class Number>
std::optional<Interval<Number>> only(std::optional<Number> const& value) {
    return value ? std::optional(Interval<Number>{*value, *value}) : std::nullopt;
}

/// Whether calls in place were measured beside these calls out of place, so that rules have to tell both apart.
bool has_twin_in_place(Series const& series, std::vector<Series> const& all) {
    Key twin = series.key;
    twin.in_place = true;
    return std::any_of(all.begin(), all.end(),
                       [&](Series const& other) { return other.scope == series.scope && other.key == twin; });
}

When when_of(Key const& key, ByteInterval bytes, bool asks_in_place) {
    return {.operation = key.operation,
            .bytes = bytes,
            .ranks = only(key.ranks),
            .nodes = only(key.nodes),
            .dtype = key.dtype,
            .reduction = key.reduction,
            .memory = key.memory,
            .in_place = asks_in_place ? key.in_place : std::nullopt,
            .uniform = key.uniform,
            .imbalance = key.imbalance ? std::optional(imbalance_class(*key.imbalance)) : std::nullopt};
}

/// Times and gain are geometric means over the sizes; the interval is the weakest of any size. The gain is of ratios in
/// the same launch, and is not that of the times, which differ from launch to launch.
Evidence joined(std::vector<MeasuredPoint> const& points) {
    Evidence all = *points.front().decision.evidence;
    all.sizes.clear();
    all.samples = 0;
    double choice = 0;
    double standard = 0;
    double runner_up = 0;
    double ratio = 0;
    bool all_have_runner_up = true;
    for (MeasuredPoint const& point : points) {
        Evidence const& one = *point.decision.evidence;
        all.sizes.push_back(point.bytes);
        all.samples += one.samples;
        all.launches = std::min(all.launches, one.launches);
        all.confirmed = std::min(all.confirmed, one.confirmed);
        choice += std::log(one.choice_ns);
        standard += std::log(one.default_ns);
        all_have_runner_up = all_have_runner_up && one.runner_up_ns.has_value();
        runner_up += std::log(one.runner_up_ns.value_or(1));
        ratio += std::log1p(-one.gain);
        all.gain_low = std::min(all.gain_low, one.gain_low);
        all.gain_high = std::max(all.gain_high, one.gain_high);
    }
    auto const count = static_cast<double>(points.size());
    all.choice_ns = std::exp(choice / count);
    all.default_ns = std::exp(standard / count);
    all.runner_up_ns = all_have_runner_up ? std::optional(std::exp(runner_up / count)) : std::nullopt;
    all.gain = -std::expm1(ratio / count);
    return all;
}

/// Evidence of a rule that leaves the default: the closest competitor is the runner-up.
void keep_default(Evidence& evidence) {
    if (evidence.choice_ns < evidence.default_ns) {
        evidence.runner_up_ns = evidence.choice_ns;
    }
    evidence.choice_ns = evidence.default_ns;
    evidence.gain = 0;
    evidence.gain_low = 0;
    evidence.gain_high = 0;
}

RuleStatus status_of(ChoiceRegion const& region) {
    if (region.choice) {
        return RuleStatus::chosen;
    }
    if (region.candidate) {
        bool const undecided = region.points.front().decision.outcome == Outcome::undecided;
        return undecided ? RuleStatus::undecided : RuleStatus::unconfirmed;
    }
    bool const somebody_was_faster =
        std::any_of(region.points.begin(), region.points.end(),
                    [](MeasuredPoint const& point) { return point.decision.outcome != Outcome::no_gain; });
    return somebody_was_faster ? RuleStatus::tie : RuleStatus::no_gain;
}

Choice default_choice(Series const& series, Policy const& policy) {
    if (series.scope != select_scope) {
        return {series.scope, default_method, std::nullopt, {}};
    }
    auto const baseline = policy.baseline.find(series.key.memory);
    return {baseline->second, default_method, std::nullopt, {}};
}

void append_rules(std::vector<Rule>& rules, Series const& series, bool asks_in_place, Policy const& policy,
                  bool accept_unconfirmed) {
    for (ChoiceRegion const& region : regions_of(series.points, policy, accept_unconfirmed)) {
        Rule rule;
        rule.scope = series.scope;
        rule.pattern = "collective";
        rule.when = when_of(series.key, region.bytes, asks_in_place);
        rule.choose = region.choice.value_or(default_choice(series, policy));
        rule.status = status_of(region);
        rule.evidence = joined(region.points);
        if (region.candidate) {
            Evidence const& seen = *rule.evidence;
            rule.candidate = Candidate{*region.candidate, seen.gain, seen.foreign ? gain_of_no_interval : seen.gain_low,
                                       seen.foreign ? 1 : seen.gain_high};
        }
        if (!region.choice) {
            keep_default(*rule.evidence);
        }
        rules.push_back(std::move(rule));
    }
}

}  // namespace

Bytes geometric_middle(Bytes a, Bytes b) {
    Bytes low = a;
    Bytes high = b;
    while (low < high) {
        Bytes const middle = low + (high - low + 1) / 2;
        bool const fits = static_cast<__uint128_t>(middle) * middle <= static_cast<__uint128_t>(a) * b;
        (fits ? low : high) = fits ? middle : middle - 1;
    }
    return low;
}

std::vector<ChoiceRegion> regions_of(std::span<MeasuredPoint const> points, Policy const& policy,
                                     bool accept_unconfirmed) {
    PointChoices const choices = choices_at(points, policy, accept_unconfirmed);
    std::vector<ChoiceRegion> regions;
    for (std::size_t i = 0; i < points.size(); ++i) {
        bool const joins = i > 0 && !gap_before(i, points, choices);
        if (joins && equal_neighbours(points, choices, i)) {
            regions.back().bytes.max = points[i].bytes;
            regions.back().points.push_back(points[i]);
            continue;
        }
        Bytes begin = points[i].bytes;
        if (joins) {
            regions.back().bytes.max = last_of_left(points[i - 1], points[i], choices[i - 1], choices[i]);
            begin = regions.back().bytes.max + 1;
        }
        auto const candidate = stays_open(points[i], choices[i]) ? points[i].decision.winner : std::nullopt;
        regions.push_back({{begin, points[i].bytes}, choices[i], candidate, {points[i]}});
    }
    return regions;
}

Built build_rules(std::vector<Observation> const& search, std::vector<Observation> const& confirm, Policy const& policy,
                  bool accept_unconfirmed) {
    require_one_skew(search, confirm);
    std::vector<Comparison> comparisons = method_comparisons(search, confirm);
    std::vector<Comparison> const between = backend_comparisons(search, confirm, policy);
    comparisons.insert(comparisons.end(), between.begin(), between.end());
    Built built;
    built.series = series_of(comparisons, decide(comparisons, policy));
    for (Series const& series : built.series) {
        append_rules(built.rules, series, has_twin_in_place(series, built.series), policy, accept_unconfirmed);
    }
    sort_rules(built.rules);
    for (std::size_t i = 0; i < built.rules.size(); ++i) {
        built.rules[i].id = fmt::format("r{:04}", i + 1);
    }
    return built;
}

}  // namespace dlmb::tuning
