// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/sizes/weights.hpp"

#include "common/base/error.hpp"
#include "common/base/philox.hpp"
#include "common/sizes/weight_families.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <fstream>
#include <string_view>
#include <utility>

namespace dlmb {
namespace {

constexpr std::string_view separators = " \t\r,";

struct FileLine {
    std::string const& file;
    std::size_t line;
    [[noreturn]] void refuse(std::string const& what) const {
        throw UsageError(fmt::format("{}:{}: {}", file, line, what));
    }
};

double read_value(std::string_view word, FileLine const& at) {
    double value = 0;
    auto const [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
    bool const whole = error == std::errc{} && end == word.data() + word.size();
    if (!whole || !std::isfinite(value) || value < 0) {
        at.refuse(fmt::format("'{}': expected a count or weight of 0 or more", word));
    }
    return value;
}

std::vector<double> read_line(std::string_view line, FileLine const& at) {
    std::vector<double> values;
    line = line.substr(0, line.find('#'));
    while (true) {
        auto const begin = line.find_first_not_of(separators);
        if (begin == std::string_view::npos) {
            return values;
        }
        line.remove_prefix(begin);
        auto const end = std::min(line.find_first_of(separators), line.size());
        values.push_back(read_value(line.substr(0, end), at));
        line.remove_prefix(end);
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

CountsTable read_counts(std::istream& text, std::string const& name, CountsShape shape) {
    std::vector<double> values;
    std::string line;
    std::size_t number = 0;
    while (std::getline(text, line)) {
        FileLine const at{name, ++number};
        std::vector<double> const row = read_line(line, at);
        if (row.empty()) {
            continue;
        }
        if (row.size() != shape.bins) {
            at.refuse(fmt::format("{} values, expected {} (one per expert)", row.size(), shape.bins));
        }
        if (std::all_of(row.begin(), row.end(), [](double value) { return value == 0; })) {
            at.refuse("no value above 0");
        }
        values.insert(values.end(), row.begin(), row.end());
    }
    std::size_t const rows = values.size() / shape.bins;
    if (rows != 1 && rows != shape.sources) {
        throw UsageError(fmt::format("{}:{}: {} lines of values, expected 1 or {} (one per source rank)", name, number,
                                     rows, shape.sources));
    }
    return {std::move(values), shape.bins};
}

CountsTable read_counts_file(std::string const& path, CountsShape shape) {
    std::ifstream file(path);
    if (!file) {
        throw UsageError(fmt::format("--skew file:{}: cannot be opened", path));
    }
    return read_counts(file, path, shape);
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
