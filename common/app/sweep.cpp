// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/app/sweep.hpp"

#include "common/base/error.hpp"
#include "patterns/beside.hpp"

#include <fmt/core.h>
#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <tuple>
#include <utility>

namespace dlmb::app {
namespace {

constexpr Bytes smallest = 8;

struct Range {
    Bytes min;
    Bytes max;
};

Range read_range(std::string_view text, std::string_view option) {
    std::size_t const colon = text.find(':');
    if (colon == std::string_view::npos) {
        Bytes const max = parse_bytes(text, option);
        return {std::min(smallest, max), max};
    }
    if (colon == 0 || colon + 1 == text.size() || text.find(':', colon + 1) != std::string_view::npos) {
        throw UsageError(
            fmt::format("{} '{}': expected [MIN:]MAX, for example 8:1M (open ends: --cli osu)", option, text));
    }
    Range const range{parse_bytes(text.substr(0, colon), option), parse_bytes(text.substr(colon + 1), option)};
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
struct Axis {
    std::string name;
    std::vector<std::string> values;
    bool sizes = false;
};

constexpr std::size_t most_points = 20'000;  // hours of a second each, and some 100 MB

/// All combinations of one value per axis, the last axis fastest. Throws UsageError where there are too many.
std::vector<Parameters> combinations(std::vector<Axis> const& axes) {
    std::size_t count = 1;
    for (Axis const& axis : axes) {
        if (axis.values.size() > most_points / count) {
            throw UsageError(fmt::format("--{}: more than {} points in all; give fewer values, or several launches",
                                         axis.name, most_points));
        }
        count *= axis.values.size();
    }
    std::vector<Parameters> found{{}};
    for (Axis const& axis : axes) {
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

/// The given parameters, then every parameter of sizes: also where only its default or the preset says it.
std::vector<Axis> axes_of(PatternType const& type, Options const& options, Parameters const& defaults) {
    std::vector<Axis> axes;
    std::vector<Axis> sizes;
    for (auto const& [name, values] : options.parameters) {
        axes.push_back({name, values});
    }
    for (ParameterInfo const& info : type.parameters) {
        if (info.kind != ParameterKind::sizes) {
            continue;
        }
        auto const given =
            std::find_if(axes.begin(), axes.end(), [&](Axis const& axis) { return axis.name == info.name; });
        std::vector<std::string> const ranges =
            given == axes.end() ? std::vector<std::string>{defaults.find(info.name)->second} : given->values;
        sizes.push_back({std::string(info.name), all_sizes(ranges, info.name), true});
        if (given != axes.end()) {
            axes.erase(given);
        }
    }
    std::move(sizes.begin(), sizes.end(), std::back_inserter(axes));
    return axes;
}

void set_sizes(std::vector<Axis> const& axes, std::string const& value, Parameters& chosen) {
    for (Axis const& axis : axes) {
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
        if (of_preset && message.find(fmt::format("--{} {}", name, value)) != std::string::npos) {
            message += fmt::format("; --{} {} is of preset {}", name, value, preset);
        }
    }
    return message;
}

std::string title(std::string_view preset, std::vector<Axis> const& axes, Parameters const& chosen) {
    std::vector<std::string> words;
    if (!preset.empty()) {
        words.emplace_back(preset);
    }
    for (Axis const& axis : axes) {
        std::string const& value = chosen.find(axis.name)->second;
        words.push_back(axis.sizes ? exact_size(parse_bytes(value, axis.name))
                                   : fmt::format("{}={}", axis.name, value));
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

}  // namespace

std::vector<SweepPoint> expand_sweep(PatternType const& type, Options const& options, int ranks,
                                     std::map<std::string, std::size_t>* left_out) {
    std::vector<std::string> const presets = options.presets.empty() ? std::vector<std::string>{""} : options.presets;
    std::vector<SweepPoint> points;
    std::set<std::tuple<std::string, Parameters, MemoryKind>> known;
    for (std::string const& preset : presets) {
        Parameters const defaults = resolve(type, preset, {});
        std::vector<Axis> const axes = axes_of(type, options, resolve(type, preset, options.of_model));
        for (Parameters chosen : combinations(axes)) {
            chosen.insert(options.of_model.begin(), options.of_model.end());
            bool const has_sizes = type.has_sizes == nullptr || type.has_sizes(resolve(type, preset, chosen));
            if (!has_sizes) {
                set_sizes(axes, "0", chosen);
            }
            if (has_sizes && options.suite) {
                Parameters const resolved = resolve(type, preset, chosen);
                bool const measured = fit_to_suite(*options.suite, type, resolved, ranks, chosen);
                if (!measured && left_out != nullptr) {
                    ++(*left_out)[fmt::format("sizes that --element {} does not divide",
                                              resolved.find("element")->second)];
                }
                if (!measured) {
                    continue;
                }
            }
            for (MemoryKind const memory : options.memory) {
                // A list may name a value twice, and several sizes may be rounded down to one.
                SweepPoint point{preset, resolve(type, preset, chosen), defaults,
                                 title(options.model.empty() ? preset : options.model, axes, chosen), memory};
                if (known.emplace(point.preset, point.parameters, memory).second) {
                    points.push_back(std::move(point));
                }
            }
        }
    }
    return points;
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

std::vector<SweepPoint> with_points_alone(std::span<SweepPoint const> points) {
    auto const name = std::string(beside_parameter.name);
    auto const key_of = [](SweepPoint const& point) {
        return std::tuple(point.preset, point.parameters, point.memory);
    };
    auto const alone = [&](SweepPoint const& point) {
        std::string const value = point.parameters.find(name)->second;
        std::string const said = fmt::format("{}={}", name, value);
        std::vector<SweepPoint> both(2, point);
        both[0].parameters[name] = beside_parameter.value;
        both[1].parameters[name] = beside_alone(value);
        for (SweepPoint& each : both) {
            each.with_next = true;
            if (std::size_t const place = each.title.find(said); place != std::string::npos) {
                each.title.replace(place, said.size(), fmt::format("{}={}", name, each.parameters[name]));
            }
        }
        return both;
    };
    std::set<std::tuple<std::string, Parameters, MemoryKind>> wanted;  // before a point that needs them
    for (SweepPoint const& point : points) {
        if (beside_of(point.parameters) == Beside::together) {
            for (SweepPoint const& each : alone(point)) {
                wanted.insert(key_of(each));
            }
        }
    }
    std::vector<SweepPoint> all;
    auto const kept = wanted;
    for (SweepPoint const& point : points) {
        if (beside_of(point.parameters) == Beside::together) {
            for (SweepPoint& each : alone(point)) {
                if (wanted.erase(key_of(each)) > 0) {
                    all.push_back(std::move(each));
                }
            }
        }
        if (kept.count(key_of(point)) == 0) {
            all.push_back(point);
        }
    }
    return all;
}

std::unique_ptr<Pattern> make_pattern(PatternType const& type, SweepPoint const& point, WorldShape const& world) {
    try {
        return type.make(point.parameters, world);
    } catch (UsageError const& error) {
        throw UsageError(with_origin(error.what(), point.preset, point.preset_values, type, point.parameters));
    }
}

}  // namespace dlmb::app
