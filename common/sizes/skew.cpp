// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/sizes/skew.hpp"

#include "common/base/error.hpp"
#include "common/base/units.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <iterator>

namespace dlmb {
namespace {

struct FamilyRow {
    std::string_view name;
    Skew::Family family;
    std::string_view parameter;
    double min;
    double max;
};
// Limits keep weights inside double's range for 65536 bins.
constexpr FamilyRow families[] = {
    {"lognormal", Skew::Family::lognormal, "its Gini", 0, 0.95},
    {"zipf", Skew::Family::zipf, "the exponent", 0, 8},
    {"hot_rank", Skew::Family::hot_rank, "the factor of the hot rank", 1, 1e6},
    {"power_law", Skew::Family::power_law, "alpha", 0, 8},
};
constexpr FamilyRow intra_host{"intra_host", Skew::Family::uniform, "the factor of the own node", 1, 1e6};
constexpr std::string_view choices = "balanced, lognormal:GINI, zipf:S, hot_rank:R, power_law:ALPHA, intra_host:R or "
                                     "file:PATH, optionally followed by +intra_host:R";

}  // namespace

Skew parse_skew(std::string_view text, std::string_view more) {
    auto const refuse = [&](std::string_view expected) {
        throw UsageError(fmt::format("--skew '{}': expected {}", text, expected));
    };
    auto const read = [&](std::string_view digits, FamilyRow const& row) {
        double const value = parse_whole<double>(digits).value_or(row.min - 1);
        if (!(value >= row.min && value <= row.max)) {  // nor when it is not a number
            refuse(fmt::format("{}:X with X {} from {} to {}", row.name, row.parameter, row.min, row.max));
        }
        return value;
    };
    auto const name_of = [](std::string_view part) { return part.substr(0, part.find(':')); };
    auto const value_of = [](std::string_view part) {
        auto const colon = part.find(':');
        return colon == std::string_view::npos ? std::string_view() : part.substr(colon + 1);
    };

    Skew skew;
    skew.parameter = 0;
    auto const plus = text.rfind("+intra_host:");
    std::string_view const family = text.substr(0, plus);
    auto const* const row = std::find_if(std::begin(families), std::end(families),
                                         [&](FamilyRow const& each) { return each.name == name_of(family); });
    if (text.starts_with("intra_host:")) {
        skew.family = Skew::Family::uniform;
        skew.intra_host = read(value_of(text), intra_host);
        return skew;
    }
    if (family == "balanced") {
        skew.family = Skew::Family::balanced;
    } else if (name_of(family) == "file") {
        skew.family = Skew::Family::file;
        skew.path = value_of(family);
        if (skew.path.empty()) {
            refuse("file:PATH with the path of a counts file");
        }
    } else if (row != std::end(families)) {
        skew.family = row->family;
        skew.parameter = read(value_of(family), *row);
    } else {
        refuse(fmt::format("{}{}", choices, more));
    }
    if (plus != std::string_view::npos) {
        if (skew.family == Skew::Family::balanced) {
            refuse("no intra_host after balanced, whose counts are equal by definition");
        }
        skew.intra_host = read(value_of(text.substr(plus)), intra_host);
    }
    return skew;
}

}  // namespace dlmb
