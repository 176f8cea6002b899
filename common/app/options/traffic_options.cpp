// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/app/options/option_groups.hpp"
#include "common/app/options/whole_number_check.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

namespace dlmb::app {
namespace {

constexpr char const* traffic_group = "Traffic (a list runs a sweep)";

/// OSU's letter for message sizes.
std::string names_of(ParameterInfo const& parameter) {
    return fmt::format("{}--{}", parameter.name == "message-size" ? "-m," : "", parameter.name);
}

void add_parameter(CLI::App& app, ParameterInfo const& parameter, Options& options) {
    bool const is_switch = parameter.value == "off" || parameter.value == "on";
    auto const store = [&options, name = std::string(parameter.name)](std::vector<std::string> values) {
        for (std::string& value : values) {
            value = value.empty() ? "on" : value;
        }
        options.parameters[name] = std::move(values);
    };
    CLI::Option* const option =
        app.add_option_function<std::vector<std::string>>(names_of(parameter), store,
                                                          fmt::format("{} [{}]", parameter.help, parameter.value))
            ->delimiter(',')
            ->type_name(parameter.kind == ParameterKind::sizes ? "SIZES" : "LIST")
            ->group(traffic_group);
    if (is_switch) {
        option->expected(0, CLI::detail::expected_max_vector_size);  // "--in-place" alone means on, as OSU writes it
    }
}

}  // namespace

void TrafficOptions::add(CLI::App& app, PatternType const& type, Options& options) {
    app.add_option("--preset", options.presets, "published model parameters, a comma-separated list")
        ->delimiter(',')
        ->group(traffic_group);
    app.add_flag("--list-presets", list_presets, "print the presets with their sources and exit")->group(traffic_group);
    for (ParameterInfo const& parameter : type.parameters) {
        add_parameter(app, parameter, options);
    }
    app.add_option("--seed", options.seed, "seed of every random choice of the traffic")
        ->check(whole_number_check)
        ->capture_default_str()
        ->group(traffic_group);
    app.add_option("--draws", options.draws, "routings compiled ahead; iteration i uses draw i mod K")
        ->check(CLI::Range(1U, 1024U))
        ->capture_default_str()
        ->group(traffic_group);
}

}  // namespace dlmb::app
