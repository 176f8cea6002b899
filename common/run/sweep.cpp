// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/run/sweep.hpp"

#include "common/base/error.hpp"

#include <fmt/core.h>
#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <tuple>
#include <utility>

namespace dlmb::run {
namespace {

constexpr Bytes smallest = 8;

struct SweptSizes {
    Bytes min;
    Bytes max;
};

SweptSizes read_range(std::string_view text, std::string_view option) {
    std::size_t const colon = text.find(':');
    if (colon == std::string_view::npos) {
        Bytes const max = parse_bytes(text, option);
        return {std::min(smallest, max), max};
    }
    if (colon == 0 || colon + 1 == text.size() || text.find(':', colon + 1) != std::string_view::npos) {
        throw UsageError(
            fmt::format("{} '{}': expected [MIN:]MAX, for example 8:1M (open ends: --cli osu)", option, text));
    }
    SweptSizes const range{parse_bytes(text.substr(0, colon), option), parse_bytes(text.substr(colon + 1), option)};
    if (range.min > range.max) {
        throw UsageError(fmt::format("{} '{}': the first size is above the last; write MIN:MAX", option, text));
    }
    return range;
}

}  // namespace

std::vector<Bytes> expand_sizes(std::string_view text, std::string_view option) {
    auto const [min, max] = read_range(text, option);
    std::vector<Bytes> sizes;
    for (Bytes size = min; size < max; size = size == 0 ? smallest : 2 * size) {
        sizes.push_back(size);
        if (size > max / 2) {
            break;  // before the product overflows
        }
    }
    sizes.push_back(max);
    return sizes;
}

std::string exact_size(Bytes bytes) {
    for (auto const& [shift, unit] : {std::pair{30, 'G'}, std::pair{20, 'M'}, std::pair{10, 'K'}}) {
        if (bytes > 0 && bytes % (Bytes{1} << shift) == 0) {
            return fmt::format("{} {}", bytes >> shift, unit);
        }
    }
    return fmt::format("{} B", bytes);
}

namespace {

/// A parameter and the values it takes.
struct SweepAxis {
    std::string name;
    std::vector<std::string> values;
    bool sizes = false;
};

constexpr std::size_t most_points = 20'000;  // hours of a second each, and some 100 MB

/// All combinations of one value per axis, the last axis fastest. Throws UsageError where `count` times as many are too
/// many.
std::vector<Parameters> combinations(std::vector<SweepAxis> const& axes, std::size_t count) {
    for (SweepAxis const& axis : axes) {
        if (axis.values.size() > most_points / count) {
            throw UsageError(fmt::format("--{}: more than {} points in all; give fewer values, or several launches",
                                         axis.name, most_points));
        }
        count *= axis.values.size();
    }
    std::vector<Parameters> found{{}};
    for (SweepAxis const& axis : axes) {
        std::vector<Parameters> longer;
        for (Parameters const& chosen : found) {
            for (std::string const& value : axis.values) {
                longer.push_back(chosen);
                longer.back()[axis.name] = value;
            }
        }
        found = std::move(longer);
    }
    return found;
}

/// Every size once, in the order of the ranges: the ranges of a list may overlap.
std::vector<std::string> all_sizes(std::vector<std::string> const& ranges, std::string_view name) {
    std::vector<std::string> sizes;
    std::set<Bytes> known;
    for (std::string const& range : ranges) {
        for (Bytes const size : expand_sizes(range, fmt::format("--{}", name))) {
            if (known.insert(size).second) {
                sizes.push_back(fmt::format("{}", size));
            }
        }
    }
    return sizes;
}

bool is_of_sizes(PatternType const& type, std::string_view name) {
    return std::any_of(type.parameters.begin(), type.parameters.end(), [&](ParameterInfo const& info) {
        return info.name == name && info.kind == ParameterKind::sizes;
    });
}

/// The given parameters but those of sizes.
std::vector<SweepAxis> given_axes(PatternType const& type, Options const& options) {
    std::vector<SweepAxis> axes;
    for (auto const& [name, values] : options.parameters) {
        if (!is_of_sizes(type, name)) {
            axes.push_back({name, values});
        }
    }
    return axes;
}

/// Every parameter of sizes: also where only its default, the preset or the model says it.
std::vector<SweepAxis> axes_of_sizes(PatternType const& type, Options const& options, Parameters const& defaults) {
    std::vector<SweepAxis> axes;
    for (ParameterInfo const& info : type.parameters) {
        if (info.kind == ParameterKind::sizes) {
            auto const given = options.parameters.find(info.name);
            std::vector<std::string> const ranges =
                given == options.parameters.end() ? std::vector{defaults.find(info.name)->second} : given->second;
            axes.push_back({std::string(info.name), all_sizes(ranges, info.name), true});
        }
    }
    return axes;
}

/// The parameters that follow from --model beside `given`; none without a model.
ModelDerived derived_from_model(PatternType const& type, Options const& options, Parameters given) {
    if (!options.model) {
        return {};
    }
    for (auto const& [name, values] : options.parameters) {
        given.emplace(name, values.front());  // sizes, which no other parameter follows from
    }
    return derive(type, *options.model, options.parallel, given);
}

std::string text_of(Options const& options, ModelDerived const& derived) {
    if (!options.model) {
        return "";
    }
    std::string text = fmt::format("--model {}:", options.model->name);
    for (auto const& [name, value] : derived.values) {
        text += fmt::format(" --{} {}", name, value);
    }
    return derived.unused.empty()
               ? text
               : fmt::format("{}; of --parallel this program does not use {}", text, fmt::join(derived.unused, ", "));
}

void set_sizes(std::vector<SweepAxis> const& axes, std::string const& value, Parameters& chosen) {
    for (SweepAxis const& axis : axes) {
        if (axis.sizes) {
            chosen[axis.name] = value;
        }
    }
}

/// The value that the preset gives is named as the preset's where a message speaks of it.
std::string with_origin(std::string message, std::string const& preset, Parameters const& defaults,
                        PatternType const& type, Parameters const& chosen) {
    for (ParameterInfo const& info : type.parameters) {
        std::string const name(info.name);
        std::string const& value = defaults.find(name)->second;
        bool const of_preset = value != info.value && chosen.find(name)->second == value;
        auto const says = [&](std::string_view quote) {
            return message.find(fmt::format("--{} {}{}{}", name, quote, value, quote)) != std::string::npos;
        };
        if (of_preset && (says("") || says("'"))) {
            message += fmt::format("; --{} {} is of preset {}", name, value, preset);
        }
    }
    return message;
}

/// The parameters that the pattern always names stand first. `resolved`: all parameters of the point.
std::string title(PatternType const& type, std::string_view preset, std::vector<SweepAxis> const& axes,
                  Parameters const& chosen, Parameters const& resolved) {
    std::vector<std::string> words;
    if (!preset.empty()) {
        words.emplace_back(preset);
    }
    auto const named = type.named == nullptr ? std::vector<std::string_view>{} : type.named(resolved);
    for (std::string_view const name : named) {
        words.push_back(fmt::format("{}={}", name, resolved.find(name)->second));
    }
    for (SweepAxis const& axis : axes) {
        if (std::find(named.begin(), named.end(), axis.name) == named.end()) {
            std::string const& value = chosen.find(axis.name)->second;
            words.push_back(axis.sizes ? exact_size(parse_bytes(value, axis.name))
                                       : fmt::format("{}={}", axis.name, value));
        }
    }
    return words.empty() ? "defaults" : fmt::format("{}", fmt::join(words, " "));
}

/// Gives `chosen` the sizes that the suite measures there; false: it has none.
bool fit_to_suite(Suite suite, PatternType const& type, Parameters const& resolved, int ranks, Parameters& chosen) {
    for (ParameterInfo const& info : type.parameters) {
        if (info.kind == ParameterKind::sizes) {
            auto const size =
                suite_size(suite, resolved, ranks, parse_bytes(chosen.find(info.name)->second, info.name));
            if (!size) {
                return false;
            }
            chosen.find(info.name)->second = fmt::format("{}", *size);
        }
    }
    return true;
}

/// Gives `chosen` no size where the traffic has none, and under --cli those of the suite; false: it measures none
/// there, which is counted in `left_out`.
bool fit_sizes(PatternType const& type, Options const& options, std::string const& preset, int ranks,
               std::vector<SweepAxis> const& axes, Parameters& chosen, std::map<std::string, std::size_t>* left_out) {
    Parameters const resolved = resolve(type, preset, chosen);
    if (type.has_sizes != nullptr && !type.has_sizes(resolved)) {
        set_sizes(axes, "0", chosen);
        return true;
    }
    if (!options.suite || fit_to_suite(*options.suite, type, resolved, ranks, chosen)) {
        return true;
    }
    if (left_out != nullptr) {
        auto const operation = resolved.find("operation");
        bool const in_parts = operation != resolved.end() && operation->second == "reduce_scatter_block";
        std::string const& element = resolved.find("element")->second;
        ++(*left_out)[fmt::format("sizes that --element {} does not divide{}", element,
                                  in_parts ? fmt::format(", or with less than one {} per rank", element) : "")];
    }
    return false;
}

/// `text` with its word `from` replaced.
std::string with_word(std::string const& text, std::string const& from, std::string const& to) {
    std::vector<std::string_view> words = split(text, " ");
    std::replace(words.begin(), words.end(), std::string_view(from), std::string_view(to));
    return fmt::format("{}", fmt::join(words, " "));
}

/// Keeps the first of points that are equal but for their titles.
std::vector<SweepPoint> without_repeats(std::vector<SweepPoint> points) {
    std::set<std::tuple<std::string, Parameters, MemoryKind>> known;
    std::vector<SweepPoint> kept;
    for (SweepPoint& point : points) {
        if (known.emplace(point.preset, point.parameters, point.memory).second) {
            kept.push_back(std::move(point));
        }
    }
    return kept;
}

}  // namespace

std::vector<SweepPoint> expand_sweep(PatternType const& type, Options const& options, int ranks,
                                     std::map<std::string, std::size_t>* left_out) {
    std::vector<std::string> const presets = options.presets.empty() ? std::vector<std::string>{""} : options.presets;
    std::vector<SweepPoint> points;
    std::vector<SweepAxis> const axes_given = given_axes(type, options);
    std::size_t const times = presets.size() * options.memory.size();
    std::vector<Parameters> const all_given = combinations(axes_given, times);
    for (std::string const& preset : presets) {
        Parameters const defaults = resolve(type, preset, {});
        for (Parameters const& given : all_given) {
            ModelDerived const of_model = derived_from_model(type, options, given);
            Parameters base = given;
            base.insert(of_model.values.begin(), of_model.values.end());
            std::vector<SweepAxis> axes = axes_of_sizes(type, options, resolve(type, preset, base));
            std::vector<Parameters> const all_sizes_of_point = combinations(axes, times * all_given.size());
            axes.insert(axes.begin(), axes_given.begin(), axes_given.end());
            for (Parameters chosen : all_sizes_of_point) {
                chosen.insert(base.begin(), base.end());
                if (!fit_sizes(type, options, preset, ranks, axes, chosen, left_out)) {
                    continue;
                }
                Parameters const resolved = resolve(type, preset, chosen);
                std::string const named =
                    title(type, options.model ? options.model->name : preset, axes, chosen, resolved);
                for (MemoryKind const memory : options.memory) {
                    points.push_back({preset, resolved, defaults, named, memory, text_of(options, of_model)});
                }
            }
        }
    }
    // A list may name a value twice, and several sizes may be rounded down to one.
    return without_repeats(std::move(points));
}

std::vector<SweepPoint> resolved_in(PatternType const& type, std::vector<SweepPoint> points, WorldShape const& world,
                                    std::function<void()> const& each) {
    for (SweepPoint& point : points) {
        for (auto const& [name, value] : make_pattern(type, point, world)->resolved()) {
            std::string& own = point.parameters[name];
            if (value == point.preset_values[name]) {  // what was given has no effect
                point.title =
                    with_word(point.title, fmt::format("{}={}", name, own), fmt::format("{}={}", name, value));
            }
            own = value;
        }
        each();
    }
    return without_repeats(std::move(points));
}

std::vector<SweepPoint> with_points_in_place(PatternType const& type, std::span<SweepPoint const> points,
                                             WorldShape const& world) {
    std::vector<SweepPoint> both;
    for (SweepPoint const& point : points) {
        both.push_back(point);
        SweepPoint in_place = point;
        in_place.parameters["in-place"] = "on";
        try {
            (void)type.make(in_place.parameters, world);
            both.push_back(std::move(in_place));
        } catch (UsageError const&) {
            continue;  // this operation has no such form
        }
    }
    return both;
}

std::vector<SweepPoint> with_communication_first(PatternType const& type, std::vector<SweepPoint> points) {
    if (type.set_by_communication == nullptr) {
        return points;
    }
    auto const key_of = [&](SweepPoint const& point) {
        Parameters communication = point.parameters;
        std::erase_if(communication, [&](auto const& parameter) { return sets_compute(type, parameter.first); });
        return std::tuple(point.preset, std::move(communication), point.memory);
    };
    auto const needs = [&](SweepPoint const& point) { return !type.set_by_communication(point.parameters).empty(); };
    std::set<std::tuple<std::string, Parameters, MemoryKind>> needed;
    for (SweepPoint const& point : points) {
        if (needs(point)) {
            needed.insert(key_of(point));
        }
    }
    std::stable_partition(points.begin(), points.end(),
                          [&](SweepPoint const& point) { return !needs(point) && needed.count(key_of(point)) > 0; });
    return points;
}

std::unique_ptr<Pattern> make_pattern(PatternType const& type, SweepPoint const& point, WorldShape const& world) {
    try {
        return type.make(point.parameters, world);
    } catch (UsageError const& error) {
        throw UsageError(with_origin(error.what(), point.preset, point.preset_values, type, point.parameters));
    }
}

}  // namespace dlmb::run
