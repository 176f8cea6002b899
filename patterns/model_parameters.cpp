// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "patterns/model_parameters.hpp"

#include "common/base/error.hpp"
#include "common/base/units.hpp"
#include "patterns/readers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

namespace dlmb {

Parallelism parse_parallelism(std::string_view text, std::string_view option) {
    constexpr std::uint64_t most_ranks = std::uint64_t{1} << 32U;
    Parallelism parallel;
    std::pair<std::string_view, std::uint64_t*> const known[] = {
        {"tp", &parallel.tp}, {"pp", &parallel.pp}, {"ep", &parallel.ep}, {"cp", &parallel.cp}, {"dp", &parallel.dp}};
    while (!text.empty()) {
        std::string_view const word = text.substr(0, text.find(','));
        text.remove_prefix(std::min(text.size(), word.size() + 1));
        std::size_t const equals = word.find('=');
        auto const* const found = std::find_if(std::begin(known), std::end(known),
                                               [&](auto const& each) { return each.first == word.substr(0, equals); });
        auto const ranks =
            equals == std::string_view::npos ? std::nullopt : parse_whole<std::uint64_t>(word.substr(equals + 1));
        if (found == std::end(known) || !ranks || *ranks == 0 || *ranks > most_ranks) {
            throw UsageError(fmt::format("{} '{}': expected tp, pp, ep, cp or dp with a number of ranks, for example "
                                         "tp=8,pp=4",
                                         option, word));
        }
        if (*found->second != 0) {
            throw UsageError(fmt::format("{}: '{}' is there twice", option, found->first));
        }
        *found->second = *ranks;
    }
    return parallel;
}

std::uint64_t padded_vocabulary(std::uint64_t vocabulary, std::uint64_t tp) {
    std::uint64_t const unit = 128 * std::max<std::uint64_t>(tp, 1);
    return (vocabulary + unit - 1) / unit * unit;
}

ModelParameters& ModelParameters::needed(std::string_view parameter, std::uint64_t value, std::string_view what) {
    if (value == 0) {
        derived_.missing.insert_or_assign(
            std::string(parameter), fmt::format("{}: does not tell {}, which --{} follows from; give --{} as well",
                                                model_.source, what, parameter, parameter));
    }
    return optional(parameter, value);
}

ModelParameters& ModelParameters::optional(std::string_view parameter, std::uint64_t value) {
    if (value != 0) {
        derived_.values.insert_or_assign(std::string(parameter), fmt::format("{}", value));
    }
    return *this;
}

ModelParameters& ModelParameters::text(std::string_view parameter, std::string_view value) {
    derived_.values.insert_or_assign(std::string(parameter), std::string(value));
    return *this;
}

ModelParameters& ModelParameters::element() {
    auto const& known = training_elements;
    if (model_.element && std::find(known.begin(), known.end(), *model_.element) != known.end()) {
        text("element", name_of(*model_.element));
    }
    return *this;
}

}  // namespace dlmb
