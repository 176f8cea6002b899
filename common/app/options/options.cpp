// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/app/options/options.hpp"

#include "common/app/options/nccl_cli.hpp"
#include "common/app/options/option_groups.hpp"
#include "common/app/printouts.hpp"
#include "common/base/error.hpp"
#include "common/base/suggest.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

namespace dlmb::app {
namespace {

constexpr char const* footer =
    "Start several ranks with mpirun or srun; without one, --ranks N runs them as threads (in_process).\n"
    "First option '--cli nccl': letters and long names are those of nccl-tests (-n -w -c -T and more).\n"
    "Exit: 0 all ran and validated, 1 a cell failed, 64 bad usage, 74 results not written, 77 nothing could run.";

std::string with_nearest_option(CLI::App const& app, CLI::ParseError const& error) {
    std::string text = error.what();
    if (dynamic_cast<CLI::ExtrasError const*>(&error) == nullptr) {
        return text;
    }
    std::vector<std::string> known;
    for (CLI::Option const* option : app.get_options()) {
        known.push_back(option->get_name());
    }
    std::vector<std::string> const unknown = app.remaining();
    return unknown.empty() ? text : unknown_name("option", unknown.front(), known) + "; --help lists all";
}

}  // namespace

std::variant<Options, Printout> parse_options(PatternType const& type, std::vector<std::string> const& arguments) {
    Options options;
    options.command = arguments;
    TrafficOptions traffic;
    TransportOptions transport;
    MeasuringOptions measuring;
    OutputOptions output;
    CLI::App app{std::string(type.summary), fmt::format("dlmb_{}", type.name)};
    app.option_defaults()->always_capture_default(false);
    traffic.add(app, type, options);
    transport.add(app, options);
    measuring.add(app, options);
    output.add(app, options);
    app.footer(footer);
    std::vector<std::string> reversed = without_nccl_letters(type, {arguments.begin() + 1, arguments.end()});
    std::reverse(reversed.begin(), reversed.end());  // CLI11 parses a vector from its back
    try {
        app.parse(std::move(reversed));
    } catch (CLI::CallForHelp const&) {
        return Printout{app.help()};
    } catch (CLI::ParseError const& error) {
        throw UsageError(with_nearest_option(app, error));
    }
    if (output.version) {
        return Printout{version_text(app.get_name())};
    }
    if (traffic.list_presets) {
        return Printout{preset_table(type)};
    }
    transport.take(options);
    measuring.take(app, options);
    output.take(options);
    return options;
}

}  // namespace dlmb::app
