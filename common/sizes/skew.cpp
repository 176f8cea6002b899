// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/sizes/skew.hpp"

#include "common/base/error.hpp"

#include <fmt/core.h>

#include <charconv>
#include <cmath>

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
constexpr double max_intra_host = 1e6;
constexpr std::string_view intra_host_name = "intra_host:";
constexpr std::string_view choices = "balanced, lognormal:GINI, zipf:S, hot_rank:R, power_law:ALPHA, intra_host:R or "
                                     "file:PATH, optionally followed by +intra_host:R";

/// The option as it was written, for messages.
struct Written {
    std::string_view option;
    std::string_view text;
    [[noreturn]] void refuse(std::string_view expected) const {
        throw UsageError(fmt::format("{} '{}': expected {}", option, text, expected));
    }
};

double read_parameter(std::string_view digits, FamilyRow const& row, Written const& written) {
    double value = 0;
    auto const [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    bool const whole = error == std::errc{} && end == digits.data() + digits.size();
    if (!whole || !std::isfinite(value) || value < row.min || value > row.max) {
        written.refuse(fmt::format("{}:X with X {} from {} to {}", row.name, row.parameter, row.min, row.max));
    }
    return value;
}

double read_intra_host(std::string_view digits, Written const& written) {
    FamilyRow const row{"intra_host", Skew::Family::uniform, "the factor of the own node", 1, max_intra_host};
    return read_parameter(digits, row, written);
}

Skew read_family(std::string_view text, Written const& written) {
    Skew skew;
    skew.parameter = 0;
    if (text == "balanced") {
        skew.family = Skew::Family::balanced;
        return skew;
    }
    auto const colon = text.find(':');
    std::string_view const name = text.substr(0, colon);
    std::string_view const value = colon == std::string_view::npos ? std::string_view{} : text.substr(colon + 1);
    if (name == "file") {
        if (value.empty()) {
            written.refuse("file:PATH with the path of a counts file");
        }
        skew.family = Skew::Family::file;
        skew.path = value;
        return skew;
    }
    for (FamilyRow const& row : families) {
        if (row.name == name) {
            skew.family = row.family;
            skew.parameter = read_parameter(value, row, written);
            return skew;
        }
    }
    written.refuse(choices);
}

}  // namespace

Skew parse_skew(std::string_view text, std::string_view option) {
    Written const written{option, text};
    if (text.starts_with(intra_host_name)) {
        Skew skew;
        skew.family = Skew::Family::uniform;
        skew.parameter = 0;
        skew.intra_host = read_intra_host(text.substr(intra_host_name.size()), written);
        return skew;
    }
    auto const plus = text.rfind("+intra_host:");
    Skew skew = read_family(text.substr(0, plus), written);
    if (plus != std::string_view::npos) {
        if (skew.family == Skew::Family::balanced) {
            written.refuse("no intra_host after balanced, whose counts are equal by definition");
        }
        skew.intra_host = read_intra_host(text.substr(plus + 1 + intra_host_name.size()), written);
    }
    return skew;
}

}  // namespace dlmb
