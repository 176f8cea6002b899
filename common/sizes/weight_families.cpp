// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/sizes/weight_families.hpp"

#include "common/base/exact_math.hpp"

#include <algorithm>
#include <numeric>

namespace dlmb {
namespace {

constexpr double sqrt_2 = 1.41421356237309504880;

std::vector<double> power_law_draws(PowerLaw const& law, RandomSequence& random) {
    bool const sparse = law.items * law.picks <= law.owner_of.size();
    double const lower = sparse ? 0.01 : 1;
    double const upper = sparse ? 2 : std::max(1.0, 0.8 * static_cast<double>(law.items));
    double const power = 1 - law.alpha;
    std::vector<double> draws;
    draws.reserve(law.owner_of.size());
    for (std::size_t bin = 0; bin < law.owner_of.size(); ++bin) {
        double const u = to_unit(random.next());
        if (power == 0) {
            draws.push_back(lower * exact::pow(upper / lower, u));
        } else {
            double const from = exact::pow(lower, power);
            double const to = exact::pow(upper, power);
            draws.push_back(exact::pow((to - from) * u + from, 1 / power));
        }
    }
    return draws;
}

std::vector<std::uint64_t> scaled(std::vector<double> const& draws, std::uint64_t total, std::uint64_t limit) {
    double const sum = std::accumulate(draws.begin(), draws.end(), 0.0);
    std::vector<std::uint64_t> loads;
    loads.reserve(draws.size());
    for (double const draw : draws) {
        loads.push_back(std::min(limit, exact::round_half_even(draw / sum * static_cast<double>(total))));
    }
    return loads;
}

struct BinRange {
    std::size_t begin;
    std::size_t end;
};

std::vector<BinRange> bins_by_owner(std::span<std::size_t const> owner_of) {
    std::vector<BinRange> owners;
    for (std::size_t bin = 0; bin < owner_of.size(); ++bin) {
        if (bin == 0 || owner_of[bin] != owner_of[bin - 1]) {
            owners.push_back({bin, bin});
        }
        owners.back().end = bin + 1;
    }
    return owners;
}

/// One unit at a time over the owners in turn: to an owner's least loaded bin, or from its most loaded one.
void adjust_to_total(std::vector<std::uint64_t>& loads, std::vector<BinRange> const& owners, std::uint64_t total,
                     std::uint64_t limit) {
    auto sum = std::accumulate(loads.begin(), loads.end(), std::uint64_t{0});
    for (std::size_t turn = 0; sum != total; turn = (turn + 1) % owners.size()) {
        auto const begin = loads.begin() + static_cast<std::ptrdiff_t>(owners[turn].begin);
        auto const end = loads.begin() + static_cast<std::ptrdiff_t>(owners[turn].end);
        if (sum < total) {
            auto const least = std::min_element(begin, end);
            if (*least < limit) {
                ++*least;
                ++sum;
            }
        } else {
            auto const most = std::max_element(begin, end);
            if (*most > 0) {
                --*most;
                --sum;
            }
        }
    }
}

void swap_heaviest_to_front(std::vector<std::uint64_t>& loads, std::vector<BinRange> const& owners) {
    std::size_t heaviest = 0;
    std::uint64_t heaviest_load = 0;
    for (std::size_t owner = 0; owner < owners.size(); ++owner) {
        auto const load =
            std::accumulate(loads.begin() + static_cast<std::ptrdiff_t>(owners[owner].begin),
                            loads.begin() + static_cast<std::ptrdiff_t>(owners[owner].end), std::uint64_t{0});
        if (load > heaviest_load) {
            heaviest = owner;
            heaviest_load = load;
        }
    }
    BinRange const first = owners[0];
    BinRange const other = owners[heaviest];
    std::size_t const common = std::min(first.end - first.begin, other.end - other.begin);
    for (std::size_t i = 0; i < common; ++i) {
        std::swap(loads[first.begin + i], loads[other.begin + i]);
    }
}

}  // namespace

double lognormal_sigma(double gini) {
    return gini == 0 ? 0 : sqrt_2 * exact::normal_quantile((gini + 1) / 2);
}

std::vector<double> lognormal_weights(std::size_t bins, double gini) {
    double const sigma = lognormal_sigma(gini);
    auto const n = static_cast<double>(bins);
    std::vector<double> weights(bins);
    for (std::size_t i = 0; i < bins; ++i) {
        weights[i] = exact::exp(sigma * exact::normal_quantile((static_cast<double>(i) + 0.5) / n));
    }
    return weights;
}

std::vector<double> zipf_weights(std::size_t bins, double exponent) {
    std::vector<double> weights(bins);
    for (std::size_t i = 0; i < bins; ++i) {
        weights[i] = exact::pow(static_cast<double>(i + 1), -exponent);
    }
    return weights;
}

std::vector<std::uint64_t> power_law_loads(PowerLaw const& law, RandomSequence& random) {
    std::uint64_t const total = law.items * law.picks;
    if (total == 0 || law.owner_of.empty()) {
        return std::vector<std::uint64_t>(law.owner_of.size(), 0);
    }
    std::vector<BinRange> const owners = bins_by_owner(law.owner_of);
    std::vector<std::uint64_t> loads = scaled(power_law_draws(law, random), total, law.items);
    adjust_to_total(loads, owners, total, law.items);
    swap_heaviest_to_front(loads, owners);
    return loads;
}

}  // namespace dlmb
