// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/sizes/weights.hpp"

#include "common/base/philox.hpp"
#include "common/sizes/weight_families.hpp"

#include <algorithm>
#include <utility>

namespace dlmb {
namespace {

/// Fisher-Yates.
void shuffle(std::vector<double>& values, RandomSequence random) {
    for (std::size_t i = values.size(); i > 1; --i) {
        std::swap(values[i - 1], values[below(random.next(), static_cast<std::uint32_t>(i))]);
    }
}

std::vector<double> hot_first_owner(std::vector<std::size_t> const& owner_of, double factor) {
    std::vector<double> weights(owner_of.size(), 1.0);
    for (std::size_t bin = 0; bin < owner_of.size() && owner_of[bin] == owner_of.front(); ++bin) {
        weights[bin] = factor;
    }
    return weights;
}

/// The largest becomes 1, none stays below 2^-40: far from the ends of double's range, whatever a file says.
void normalise(std::vector<double>& weights) {
    double const largest = weights.empty() ? 0 : *std::max_element(weights.begin(), weights.end());
    for (double& weight : weights) {
        weight = largest > 0 ? std::max(weight / largest, 0x1p-40) : 1;
    }
}

}  // namespace

Weights::Weights(Skew skew, Bins bins) : skew_(std::move(skew)), bins_(std::move(bins)) {
    std::size_t const count = bins_.owner_of.size();
    if (skew_.family == Skew::Family::lognormal) {
        sorted_ = lognormal_weights(count, skew_.parameter);
    } else if (skew_.family == Skew::Family::zipf) {
        sorted_ = zipf_weights(count, skew_.parameter);
    } else if (skew_.family == Skew::Family::file) {
        counts_ = read_counts_file(skew_.path, {bins_.sources, count});
    }
}

std::vector<double> Weights::of(std::size_t source, std::uint64_t seed, std::uint32_t layer) const {
    std::vector<double> weights;
    switch (skew_.family) {
    case Skew::Family::balanced:
    case Skew::Family::uniform:
        weights.assign(bins_.owner_of.size(), 1.0);
        break;
    case Skew::Family::lognormal:
    case Skew::Family::zipf:
        weights = sorted_;
        shuffle(weights, RandomSequence(seed, 0, 0, stream_id(Purpose::expert_positions, layer)));
        break;
    case Skew::Family::hot_rank:
        weights = hot_first_owner(bins_.owner_of, skew_.parameter);
        break;
    case Skew::Family::power_law: {
        RandomSequence random(seed, 0, 0, stream_id(Purpose::power_law, layer));
        auto const loads = power_law_loads({skew_.parameter, bins_.items, bins_.picks, bins_.owner_of}, random);
        weights.assign(loads.begin(), loads.end());
        break;
    }
    case Skew::Family::file: {
        auto const row = counts_.row(source);
        weights.assign(row.begin(), row.end());
        break;
    }
    }
    normalise(weights);
    return weights;
}

}  // namespace dlmb
