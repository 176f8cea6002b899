// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/tools/tune/build/decision.hpp"

#include "common/base/statistics/order_statistics.hpp"
#include "common/base/statistics/rank_test.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

namespace dlmb::tuning {
namespace {

constexpr double small_ns = 50'000;  // below, the margin is policy.min_gain_small
constexpr double confirm_level = 0.05;

using Launches = std::map<std::string, Observation const*>;  // by launch id
using Competitors = std::map<Competitor, Launches>;

/// Launches without a default have nothing to be compared with.
Launches launches_of_default(Competitors const& competitors) {
    for (auto const& [competitor, launches] : competitors) {
        if (launches.begin()->second->is_default) {
            return launches;
        }
    }
    return {};
}

std::vector<MethodTimes> finished(Competitors const& competitors) {
    Launches const defaults = launches_of_default(competitors);
    std::vector<MethodTimes> all_times;
    for (auto const& [competitor, launches] : competitors) {
        MethodTimes times;
        std::vector<double> errors;
        for (auto const& [launch, seen] : launches) {
            auto const standard = defaults.find(launch);
            if (standard == defaults.end()) {
                continue;
            }
            times.choice = seen->choice;
            times.is_default = seen->is_default;
            times.foreign = seen->foreign;
            times.medians_ns.push_back(seen->median_ns);
            times.ratios.push_back(seen->median_ns / standard->second->median_ns);
            times.samples += seen->samples;
            errors.push_back(std::abs(seen->aa_ratio - 1));
        }
        if (!errors.empty()) {
            // launches are independent, so their mean errs by less than one of them
            times.aa_error = statistics::median(errors) / std::sqrt(static_cast<double>(errors.size()));
            all_times.push_back(std::move(times));
        }
    }
    return all_times;
}

template <class Is>
MethodTimes const* find(std::vector<MethodTimes> const& all_times, Is is) {
    auto const found = std::find_if(all_times.begin(), all_times.end(), is);
    return found == all_times.end() ? nullptr : &*found;
}

MethodTimes const* default_of(std::vector<MethodTimes> const& all_times) {
    return find(all_times, [](MethodTimes const& each) { return each.is_default; });
}

/// Fastest first, against the default of each launch.
std::vector<MethodTimes const*> ranked(std::vector<MethodTimes> const& all_times) {
    std::vector<MethodTimes const*> order;
    for (MethodTimes const& each : all_times) {
        order.push_back(&each);
    }
    std::stable_sort(order.begin(), order.end(), [](MethodTimes const* a, MethodTimes const* b) {
        return statistics::median(a->ratios) < statistics::median(b->ratios);
    });
    return order;
}

/// The fastest first of those that may win: with the launches that a winner needs or, where no competitor has as many,
/// with the most that one has. A method that was dropped after a few launches does not stand before those that were
/// measured to the end because of a few lucky ones.
std::vector<MethodTimes const*> contenders(std::vector<MethodTimes> const& all_times, Policy const& policy) {
    std::size_t most = 0;
    for (MethodTimes const& each : all_times) {
        most = each.is_default ? most : std::max(most, each.ratios.size());
    }
    std::size_t const needed = std::min<std::size_t>(most, policy.launches);
    std::vector<MethodTimes const*> order = ranked(all_times);
    std::erase_if(order, [&](MethodTimes const* each) { return !each->is_default && each->ratios.size() < needed; });
    return order;
}

double least_gain(MethodTimes const& standard, Policy const& policy) {
    return statistics::median(standard.medians_ns) < small_ns ? policy.min_gain_small : policy.min_gain_large;
}

double margin(MethodTimes const& winner, MethodTimes const& standard, Policy const& policy) {
    return std::max(least_gain(standard, policy), 2 * std::max(winner.aa_error, standard.aa_error));
}

Evidence evidence_of(Comparison const& comparison, MethodTimes const& winner, MethodTimes const& standard,
                     std::vector<MethodTimes const*> const& order, std::uint64_t confirmed) {
    Evidence evidence;
    evidence.foreign = winner.foreign;
    evidence.sizes = {*comparison.key.bytes};
    evidence.samples = winner.samples;
    evidence.launches = winner.medians_ns.size();
    evidence.confirmed = confirmed;
    evidence.choice_ns = statistics::median(winner.medians_ns);
    evidence.default_ns = statistics::median(standard.medians_ns);
    auto const runner_up =
        std::find_if(order.begin(), order.end(), [&](MethodTimes const* each) { return each != &winner; });
    if (runner_up != order.end()) {
        evidence.runner_up_ns = statistics::median((*runner_up)->medians_ns);
    }
    if (winner.foreign) {
        evidence.gain = 1 - statistics::median(winner.ratios);
        return evidence;
    }
    statistics::Ratio const ratio = statistics::ratio_of(winner.ratios);
    evidence.gain = 1 - ratio.estimate;
    evidence.gain_low = std::max(1 - ratio.high, gain_of_no_interval);
    evidence.gain_high = 1 - ratio.low;
    return evidence;
}

/// Of a comparison whose winner is faster by more than the margin and than chance explains: whether the fresh launches
/// say the same.
Decision after_confirmation(Comparison const& comparison, MethodTimes const& winner, MethodTimes const& standard,
                            std::vector<MethodTimes const*> const& order, Policy const& policy) {
    MethodTimes const* const fresh =
        find(comparison.confirm, [&](MethodTimes const& each) { return each.choice == winner.choice; });
    MethodTimes const* const fresh_default = default_of(comparison.confirm);
    if (fresh == nullptr || fresh_default == nullptr) {
        return {Outcome::unconfirmed, winner.choice, evidence_of(comparison, winner, standard, order, 0)};
    }
    double const again = statistics::ratio_of(fresh->ratios).estimate;
    if (statistics::probability_by_chance(fresh->ratios) > confirm_level ||
        again > 1 - margin(*fresh, *fresh_default, policy)) {
        // faster by enough in launches too noisy to confirm it is no tie: more of them have to say
        bool const promising = again <= 1 - least_gain(*fresh_default, policy);
        return {promising ? Outcome::unconfirmed : Outcome::tie, winner.choice,
                evidence_of(comparison, winner, standard, order, 0)};
    }
    Evidence evidence =
        evidence_of(comparison, *fresh, *fresh_default, ranked(comparison.confirm), fresh->medians_ns.size());
    evidence.launches = winner.medians_ns.size();
    evidence.samples += winner.samples;
    return {bears_out(evidence) ? Outcome::chosen : Outcome::unconfirmed, winner.choice, evidence};
}

/// The default methods only, each outcome for its backend.
std::vector<Observation> backends_in(std::vector<Observation> const& all, Policy const& policy) {
    std::vector<Observation> chosen;
    for (Observation const& seen : all) {
        auto const baseline = policy.baseline.find(seen.key.memory);
        if (!seen.is_default || baseline == policy.baseline.end()) {
            continue;
        }
        Observation as_backend = seen;
        as_backend.choice = {seen.competitor.backend, default_method, std::nullopt, {}};
        as_backend.is_default = seen.competitor.backend == baseline->second;
        as_backend.competitor = {select_scope, seen.competitor.backend};
        chosen.push_back(std::move(as_backend));
    }
    return chosen;
}

}  // namespace

std::vector<Comparison> method_comparisons(std::vector<Observation> const& search,
                                           std::vector<Observation> const& confirm) {
    std::map<std::pair<std::string, Key>, std::pair<Competitors, Competitors>> comparisons;
    auto const place_of = [](Observation const& seen) { return std::pair{seen.competitor.backend, seen.key}; };
    for (Observation const& seen : search) {
        comparisons[place_of(seen)].first[seen.competitor][seen.launch_id] = &seen;
    }
    for (Observation const& seen : confirm) {
        auto const found = comparisons.find(place_of(seen));
        if (found != comparisons.end()) {
            found->second.second[seen.competitor][seen.launch_id] = &seen;
        }
    }
    std::vector<Comparison> result;
    for (auto const& [place, competitors] : comparisons) {
        Comparison comparison{place.first, place.second, finished(competitors.first), finished(competitors.second)};
        if (default_of(comparison.search) != nullptr) {
            result.push_back(std::move(comparison));
        }
    }
    return result;
}

std::vector<Comparison> backend_comparisons(std::vector<Observation> const& search,
                                            std::vector<Observation> const& confirm, Policy const& policy) {
    std::vector<Comparison> comparisons = method_comparisons(backends_in(search, policy), backends_in(confirm, policy));
    std::erase_if(comparisons, [](Comparison const& comparison) { return comparison.search.size() < 2; });
    return comparisons;
}

std::vector<Decision> decide(std::vector<Comparison> const& comparisons, Policy const& policy) {
    std::vector<double> by_chance;
    for (Comparison const& comparison : comparisons) {
        by_chance.push_back(statistics::probability_by_chance(contenders(comparison.search, policy).front()->ratios));
    }
    std::vector<bool> const significant = statistics::discoveries(by_chance, policy.fdr_q);
    std::vector<Decision> decisions;
    for (std::size_t i = 0; i < comparisons.size(); ++i) {
        Comparison const& comparison = comparisons[i];
        std::vector<MethodTimes const*> const order = contenders(comparison.search, policy);
        MethodTimes const& winner = *order.front();
        MethodTimes const& standard = *default_of(comparison.search);
        if (winner.is_default) {
            decisions.push_back(
                {Outcome::no_gain, std::nullopt, evidence_of(comparison, standard, standard, order, 0)});
            continue;
        }
        if (winner.foreign) {
            auto const faster = [&](double ratio) { return ratio <= 1 - least_gain(standard, policy); };
            Evidence const evidence = evidence_of(comparison, winner, standard, order, 0);
            bool const promising = faster(statistics::median(winner.ratios)) && bears_out(evidence);
            bool const always = std::all_of(winner.ratios.begin(), winner.ratios.end(), faster);
            decisions.push_back({!promising ? Outcome::tie
                                 : always   ? Outcome::foreign
                                            : Outcome::undecided,
                                 winner.choice, evidence});
            continue;
        }
        double const estimate = statistics::ratio_of(winner.ratios).estimate;
        bool const enough = estimate <= 1 - margin(winner, standard, policy);
        bool const counted = winner.ratios.size() >= policy.launches;
        if (enough && counted && significant[i]) {
            decisions.push_back(after_confirmation(comparison, winner, standard, order, policy));
            continue;
        }
        bool const promising = estimate <= 1 - least_gain(standard, policy);
        decisions.push_back({promising ? Outcome::undecided : Outcome::tie, winner.choice,
                             evidence_of(comparison, winner, standard, order, 0)});
    }
    return decisions;
}

}  // namespace dlmb::tuning
