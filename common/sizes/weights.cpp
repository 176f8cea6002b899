// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/sizes/weights.hpp"

#include "common/base/error.hpp"
#include "common/base/exact_math.hpp"
#include "common/base/input_file.hpp"
#include "common/base/units.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <sstream>
#include <string_view>
#include <utility>

namespace dlmb {
namespace {

constexpr double sqrt_2 = 1.41421356237309504880;

std::vector<double> power_law_draws(double alpha, Bins const& bins, RandomSequence& random) {
    bool const sparse = bins.items * bins.picks <= bins.owner_of.size();
    double const lower = sparse ? 0.01 : 1;
    double const upper = sparse ? 2 : std::max(1.0, 0.8 * static_cast<double>(bins.items));
    double const power = 1 - alpha;
    double const from = exact::pow(lower, power);
    double const to = exact::pow(upper, power);
    std::vector<double> draws(bins.owner_of.size());
    for (double& draw : draws) {
        double const u = to_unit(random.next());
        draw = power == 0 ? lower * exact::pow(upper / lower, u) : exact::pow((to - from) * u + from, 1 / power);
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

std::vector<std::uint64_t> power_law_loads(double alpha, Bins const& bins, RandomSequence& random) {
    std::uint64_t const total = bins.items * bins.picks;
    if (total == 0 || bins.owner_of.empty()) {
        return std::vector<std::uint64_t>(bins.owner_of.size(), 0);
    }
    std::vector<BinRange> const owners = bins_by_owner(bins.owner_of);
    std::vector<std::uint64_t> loads = scaled(power_law_draws(alpha, bins, random), total, bins.items);
    adjust_to_total(loads, owners, total, bins.items);
    swap_heaviest_to_front(loads, owners);
    return loads;
}

CountsTable read_counts(std::istream& text, std::string const& name, CountsShape shape) {
    CountsTable table;
    std::size_t number = 0;
    auto const refuse = [&](std::string const& what) {
        throw UsageError(fmt::format("{}:{}: {}", name, number, what));
    };
    for (std::string line; std::getline(text, line);) {
        ++number;
        std::vector<double> row;
        for (std::string_view const word : words(std::string_view(line).substr(0, line.find('#')), " \t\r,")) {
            row.push_back(parse_whole<double>(word).value_or(-1));
            if (!(row.back() >= 0) || !std::isfinite(row.back())) {
                refuse(fmt::format("'{}': expected a count or weight of 0 or more", word));
            }
        }
        if (row.empty()) {
            continue;
        }
        if (row.size() != shape.bins) {
            refuse(fmt::format("{} values, expected {} (one per expert)", row.size(), shape.bins));
        }
        if (std::all_of(row.begin(), row.end(), [](double value) { return value == 0; })) {
            refuse("no value above 0");
        }
        table.lines.push_back(std::move(row));
    }
    if (table.lines.size() != 1 && table.lines.size() != shape.sources) {
        refuse(fmt::format("{} lines of values, expected 1 or {} (one per source rank)", table.lines.size(),
                           shape.sources));
    }
    return table;
}

CountsTable read_counts_file(std::string const& path, CountsShape shape) {
    std::string text;
    try {
        text = read_document(path);
    } catch (UsageError const& error) {
        throw UsageError(fmt::format("--skew file:{}", error.what()));
    }
    std::istringstream lines(std::move(text));
    return read_counts(lines, path, shape);
}

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
        auto const loads = power_law_loads(skew_.parameter, bins_, random);
        weights.assign(loads.begin(), loads.end());
        break;
    }
    case Skew::Family::file:
        weights = counts_.row(source);
        break;
    }
    normalise(weights);
    return weights;
}

}  // namespace dlmb
