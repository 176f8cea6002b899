// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "patterns/model_parameters.hpp"

#include "common/base/units.hpp"
#include "patterns/readers.hpp"

#include <algorithm>
#include <optional>

namespace dlmb {
namespace {

constexpr std::uint64_t most_ranks = std::uint64_t{1} << 32U;

}  // namespace

Parallelism parse_parallelism(std::string_view text, std::string_view option) {
    Parallelism parallel;
    for (std::string_view const word : text.empty() ? std::vector<std::string_view>() : split(text, ",")) {
        std::size_t const equals = word.find('=');
        auto const* const part =
            std::find_if(parallel_parts.begin(), parallel_parts.end(),
                         [&](ParallelPart const& each) { return each.name == word.substr(0, equals); });
        auto const ranks =
            equals == std::string_view::npos ? std::nullopt : parse_whole<std::uint64_t>(word.substr(equals + 1));
        if (part == parallel_parts.end() || !ranks || *ranks == 0 || *ranks > most_ranks) {
            throw UsageError(fmt::format(
                "{} '{}': expected tp, pp, ep, cp or dp with a number of ranks, for example tp=8,pp=4", option, word));
        }
        std::uint64_t& own = parallel.*part->ranks;
        if (own != 0) {
            throw UsageError(fmt::format("{}: '{}' is there twice", option, part->name));
        }
        own = *ranks;
    }
    return parallel;
}

std::uint64_t padded_vocabulary(std::uint64_t vocabulary, std::uint64_t tp) {
    std::uint64_t const unit = 128 * std::max<std::uint64_t>(tp, 1);
    return (vocabulary + unit - 1) / unit * unit;
}

ModelDerived derive(PatternType const& type, ModelShape model, Parallelism parallel, Parameters const& given) {
    if (type.of_model == nullptr) {
        throw UsageError(
            fmt::format("{}: no parameter follows from a model; give the options of this pattern", type.name));
    }
    for (ParallelPart const& part : parallel_parts) {
        if (auto const own = given.find(part.name); own != given.end()) {
            std::uint64_t const ranks = parse_whole<std::uint64_t>(own->second).value_or(0);
            parallel.*part.ranks = ranks <= most_ranks ? ranks : 0;  // the pattern refuses what is wrong
        }
    }
    if (auto const own = given.find("element"); own != given.end() && element_named(own->second)) {
        model.element = element_named(own->second);
    }
    ModelDerived derived = type.of_model(model, parallel);
    for (auto const& [name, value] : given) {
        derived.values.erase(name);
        derived.missing.erase(name);
    }
    if (!derived.missing.empty()) {
        throw UsageError(derived.missing.begin()->second);
    }
    return derived;
}

ModelParameters::ModelParameters(ModelShape const& model, Parallelism const& parallel,
                                 std::initializer_list<std::string_view> used)
    : model_(model) {
    for (ParallelPart const& part : parallel_parts) {
        if (parallel.*part.ranks != 0 && std::find(used.begin(), used.end(), part.name) == used.end()) {
            derived_.unused.push_back(fmt::format("{}={}", part.name, parallel.*part.ranks));
        }
    }
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
