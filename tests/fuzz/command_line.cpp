// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// The command line of the programs that measure, an argument per line, the program first ("dlmb_collective"), as far as
// the points that it asks for and the patterns of the first of them.
#include "common/run/sweep.hpp"
#include "patterns/registry.hpp"
#include "tests/fuzz/fuzz.hpp"
#include "tests/fuzz/targets.hpp"

#include <algorithm>
#include <variant>

namespace dlmb::fuzz {
namespace {

constexpr WorldShape small_world{4, 2};
constexpr std::size_t most_points = 4;

PatternType const& pattern_named(std::string_view program) {
    static std::vector<PatternType const*> const all = pattern_types();
    auto const found =
        std::find_if(all.begin(), all.end(), [&](PatternType const* type) { return program.ends_with(type->name); });
    return found == all.end() ? *all.front() : **found;
}

void expand(PatternType const& type, run::Options const& options) {
    std::vector<run::SweepPoint> points = expand_sweep(type, options, small_world.ranks);
    points.resize(std::min(points.size(), most_points));
    for (run::SweepPoint const& point : points) {
        (void)accepts([&] {
            auto const pattern = type.make(point.parameters, small_world);
            require(pattern != nullptr && !pattern->operations().empty(), "a pattern without operations");
        });
    }
}

void check_range(std::string_view text) {
    (void)accepts([&] {
        auto const sizes = run::expand_sizes(text, "-m");
        require(!sizes.empty() && sizes.size() <= 67 && std::is_sorted(sizes.begin(), sizes.end()), "no rising sizes");
    });
}

}  // namespace

void command_line(std::string_view input) {
    std::vector<std::string> arguments;
    for (std::string_view const line : split(input, "\n")) {
        std::string_view const argument = line.substr(0, line.find('\0'));  // where an argument of main() ends
        arguments.emplace_back(argument);
        check_range(argument);
    }
    PatternType const& type = pattern_named(arguments.front());
    (void)accepts([&] {
        auto const parsed = run::parse_options(type, arguments);
        if (auto const* options = std::get_if<run::Options>(&parsed)) {
            expand(type, *options);
        }
    });
}

}  // namespace dlmb::fuzz
