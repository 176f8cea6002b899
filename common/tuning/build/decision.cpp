// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/tuning/build/decision.hpp"

#include "common/measure/statistics/order_statistics.hpp"
#include "common/tuning/build/paired_test.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

namespace dlmb::tuning {
namespace {

constexpr double small_ns = 50'000;  // below, the margin is policy.min_gain_small
constexpr double confirm_level = 0.05;

using HeatKey = std::tuple<std::string, Place, Bytes>;

using Launches = std::map<std::string, Observation const*>;  // by launch id
using Contenders = std::map<Contender, Launches>;

/// Launches without a default have nothing to be compared with.
Launches launches_of_default(Contenders const& contenders) {
    for (auto const& [contender, launches] : contenders) {
        if (launches.begin()->second->is_default) {
            return launches;
        }
    }
    return {};
}

std::vector<Showing> finished(Contenders const& contenders) {
    Launches const defaults = launches_of_default(contenders);
    std::vector<Showing> showings;
    for (auto const& [contender, launches] : contenders) {
        Showing showing;
        std::vector<double> errors;
        for (auto const& [launch, seen] : launches) {
            auto const standard = defaults.find(launch);
            if (standard == defaults.end()) {
                continue;
            }
            showing.choice = seen->choice;
            showing.is_default = seen->is_default;
            showing.medians_ns.push_back(seen->median_ns);
            showing.ratios.push_back(seen->median_ns / standard->second->median_ns);
            showing.samples += seen->samples;
            errors.push_back(std::abs(seen->aa_ratio - 1));
        }
        if (!errors.empty()) {
            // launches are independent, so their mean errs by less than one of them
            showing.aa_error = measure::median(errors) / std::sqrt(static_cast<double>(errors.size()));
            showings.push_back(std::move(showing));
        }
    }
    return showings;
}

Showing const* default_of(std::vector<Showing> const& showings) {
    auto const found =
        std::find_if(showings.begin(), showings.end(), [](Showing const& each) { return each.is_default; });
    return found == showings.end() ? nullptr : &*found;
}

Showing const* same(std::vector<Showing> const& showings, Choice const& choice) {
    auto const found =
        std::find_if(showings.begin(), showings.end(), [&](Showing const& each) { return each.choice == choice; });
    return found == showings.end() ? nullptr : &*found;
}

/// Fastest first, against the default of each launch.
std::vector<Showing const*> ranked(std::vector<Showing> const& showings) {
    std::vector<Showing const*> order;
    for (Showing const& each : showings) {
        order.push_back(&each);
    }
    std::stable_sort(order.begin(), order.end(), [](Showing const* a, Showing const* b) {
        return measure::median(a->ratios) < measure::median(b->ratios);
    });
    return order;
}

double least_gain(Showing const& standard, Policy const& policy) {
    return measure::median(standard.medians_ns) < small_ns ? policy.min_gain_small : policy.min_gain_large;
}

double margin(Showing const& winner, Showing const& standard, Policy const& policy) {
    return std::max(least_gain(standard, policy), 2 * std::max(winner.aa_error, standard.aa_error));
}

Evidence evidence_of(Heat const& heat, Showing const& winner, Showing const& standard,
                     std::vector<Showing const*> const& order, std::uint64_t confirmed) {
    Ratio const ratio = ratio_of(winner.ratios);
    Evidence evidence;
    evidence.sizes = {heat.bytes};
    evidence.samples = winner.samples;
    evidence.launches = winner.medians_ns.size();
    evidence.confirmed = confirmed;
    evidence.choice_ns = measure::median(winner.medians_ns);
    evidence.default_ns = measure::median(standard.medians_ns);
    if (order.size() > 1) {
        evidence.runner_up_ns = measure::median(order[1]->medians_ns);
    }
    evidence.gain = 1 - ratio.estimate;
    evidence.gain_low = 1 - std::min(ratio.high, 1e6);
    evidence.gain_high = 1 - ratio.low;
    return evidence;
}

/// Whether the fresh launches say the same.
bool confirmed(Heat const& heat, Choice const& choice, Policy const& policy) {
    Showing const* const winner = same(heat.confirm, choice);
    Showing const* const standard = default_of(heat.confirm);
    return winner != nullptr && standard != nullptr && probability_of_luck(winner->ratios) <= confirm_level &&
           ratio_of(winner->ratios).estimate <= 1 - margin(*winner, *standard, policy);
}

bool was_measured_again(Heat const& heat, Choice const& choice) {
    return same(heat.confirm, choice) != nullptr && default_of(heat.confirm) != nullptr;
}

/// Of a heat whose winner is faster by more than the margin and by more than luck.
Decision after_confirmation(Heat const& heat, Showing const& winner, Showing const& standard,
                            std::vector<Showing const*> const& order, Policy const& policy) {
    if (!was_measured_again(heat, winner.choice)) {
        return {Standing::unconfirmed, winner.choice, evidence_of(heat, winner, standard, order, 0)};
    }
    if (!confirmed(heat, winner.choice, policy)) {
        return {Standing::tie, winner.choice, evidence_of(heat, winner, standard, order, 0)};
    }
    Showing const& fresh = *same(heat.confirm, winner.choice);
    Evidence evidence =
        evidence_of(heat, fresh, *default_of(heat.confirm), ranked(heat.confirm), fresh.medians_ns.size());
    evidence.launches = winner.medians_ns.size();
    evidence.samples += winner.samples;
    return {Standing::chosen, winner.choice, evidence};
}

}  // namespace

std::vector<Heat> method_heats(std::vector<Observation> const& search, std::vector<Observation> const& confirm) {
    std::map<HeatKey, std::pair<Contenders, Contenders>> heats;
    auto const key_of = [](Observation const& seen) { return HeatKey{seen.contender.backend, seen.place, seen.bytes}; };
    for (Observation const& seen : search) {
        heats[key_of(seen)].first[seen.contender][seen.launch_id] = &seen;
    }
    for (Observation const& seen : confirm) {
        auto const found = heats.find(key_of(seen));
        if (found != heats.end()) {
            found->second.second[seen.contender][seen.launch_id] = &seen;
        }
    }
    std::vector<Heat> result;
    for (auto const& [key, contenders] : heats) {
        auto const& [scope, place, bytes] = key;
        Heat heat{scope, place, bytes, finished(contenders.first), finished(contenders.second)};
        if (default_of(heat.search) != nullptr) {
            result.push_back(std::move(heat));
        }
    }
    return result;
}

std::vector<Decision> decide(std::vector<Heat> const& heats, Policy const& policy) {
    std::vector<double> luck;
    for (Heat const& heat : heats) {
        luck.push_back(probability_of_luck(ranked(heat.search).front()->ratios));
    }
    std::vector<bool> const significant = discoveries(luck, policy.fdr_q);
    std::vector<Decision> decisions;
    for (std::size_t i = 0; i < heats.size(); ++i) {
        Heat const& heat = heats[i];
        std::vector<Showing const*> const order = ranked(heat.search);
        Showing const& winner = *order.front();
        Showing const& standard = *default_of(heat.search);
        if (winner.is_default) {
            decisions.push_back({Standing::no_gain, std::nullopt, evidence_of(heat, standard, standard, order, 0)});
            continue;
        }
        double const estimate = ratio_of(winner.ratios).estimate;
        bool const enough = estimate <= 1 - margin(winner, standard, policy);
        bool const counted = winner.ratios.size() >= policy.launches;
        if (enough && counted && significant[i]) {
            decisions.push_back(after_confirmation(heat, winner, standard, order, policy));
            continue;
        }
        bool const promising = estimate <= 1 - least_gain(standard, policy);
        decisions.push_back({promising ? Standing::undecided : Standing::tie, winner.choice,
                             evidence_of(heat, winner, standard, order, 0)});
    }
    return decisions;
}

}  // namespace dlmb::tuning
