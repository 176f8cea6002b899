// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/tuning/gain/measured.hpp"

#include "common/base/error.hpp"
#include "common/measure/statistics/order_statistics.hpp"
#include "common/tuning/build/decision.hpp"
#include "common/tuning/query.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace dlmb::tuning {
namespace {

Showing const& shown(Heat const& heat, std::string const& method) {
    auto const found = std::find_if(heat.search.begin(), heat.search.end(), [&](Showing const& each) {
        return method == default_method ? each.is_default : each.choice.method == method;
    });
    if (found == heat.search.end()) {
        throw UsageError(fmt::format("{} of {} bytes, {} ranks: the table picks '{}', which these results did not "
                                     "measure in a launch with the default; measure with it in --method",
                                     name_of(heat.place.operation), heat.bytes, heat.place.ranks, method));
    }
    return *found;
}

SizeGain gain_at(TuningTable const& table, Heat const& heat) {
    Match const match = lookup(table, query_of(heat.place, heat.bytes, heat.scope));
    SizeGain gain;
    gain.scope = heat.scope;
    gain.place = heat.place;
    gain.bytes = heat.bytes;
    gain.choice = match ? match.deciding()->choose.method : default_method;
    Showing const& choice = shown(heat, gain.choice);
    gain.default_ns = measure::median(shown(heat, default_method).medians_ns);
    gain.choice_ns = measure::median(choice.medians_ns);
    Ratio const ratio = ratio_of(choice.ratios);
    gain.speedup = {1 / ratio.estimate, 1 / ratio.high, 1 / ratio.low};
    gain.launches = choice.ratios.size();
    double best = ratio.estimate;
    gain.best = choice.choice.method;
    for (Showing const& each : heat.search) {
        if (2 * each.ratios.size() < gain.launches) {
            continue;  // few launches are easily lucky
        }
        double const estimate = ratio_of(each.ratios).estimate;
        if (estimate < best) {
            best = estimate;
            gain.best = each.choice.method;
        }
    }
    gain.regret = ratio.estimate / best;
    return gain;
}

}  // namespace

std::vector<SizeGain> measured_gains(TuningTable const& table, std::vector<Observation> const& fresh) {
    std::vector<SizeGain> gains;
    for (Heat const& heat : method_heats(fresh, {})) {
        gains.push_back(gain_at(table, heat));
    }
    return gains;
}

GainSummary summary_of(std::span<SizeGain const> sizes) {
    double speedup = 0;
    double regret = 0;
    GainSummary all{0, sizes.front().speedup.estimate, 0, 1};
    for (SizeGain const& size : sizes) {
        speedup += std::log(size.speedup.estimate);
        regret += std::log(size.regret);
        all.speedup_least = std::min(all.speedup_least, size.speedup.estimate);
        all.regret_most = std::max(all.regret_most, size.regret);
    }
    auto const count = static_cast<double>(sizes.size());
    all.speedup = std::exp(speedup / count);
    all.regret = std::exp(regret / count);
    return all;
}

}  // namespace dlmb::tuning
