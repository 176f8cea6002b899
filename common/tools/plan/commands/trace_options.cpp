// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/tools/plan/commands/trace_options.hpp"

#include "common/base/error.hpp"
#include "common/tools/plan/read.hpp"

#include <fmt/core.h>

namespace dlmb::trace::commands {
namespace {

struct Assumed {
    trace::Assumptions reading;
    std::optional<int> iterations;
};

/// The words of --assume: KEY=VALUE.
Assumed assumptions_of(std::vector<std::string> const& words) {
    Assumed assumed;
    trace::Assumptions& assumptions = assumed.reading;
    for (std::string const& word : words) {
        std::size_t const equals = word.find('=');
        std::string const key = word.substr(0, equals);
        std::string const value = equals == std::string::npos ? "" : word.substr(equals + 1);
        if (key == "ranks") {
            auto const ranks = parse_whole<int>(value);
            if (!ranks || *ranks < 1 || *ranks > most_recorded_ranks) {
                throw UsageError(
                    fmt::format("--assume ranks={}: must be a number from 1 to {}", value, most_recorded_ranks));
            }
            assumptions.ranks = *ranks;
        } else if (key == "dtype") {
            assumptions.dtype = trace::dtype_named(value);
            if (!assumptions.dtype) {
                throw UsageError(fmt::format("--assume dtype={}: must be one of {}", value, element_names));
            }
        } else if (key == "root") {
            assumptions.root = parse_whole<int>(value);
            if (assumptions.root.value_or(-1) < 0) {
                throw UsageError(fmt::format("--assume root={}: must be a rank of the group", value));
            }
        } else if (key == "iterations") {
            constexpr int most = 1'000'000;
            assumed.iterations = parse_whole<int>(value);
            if (assumed.iterations.value_or(0) < 1 || *assumed.iterations > most) {
                throw UsageError(fmt::format("--assume iterations={}: must be a number from 1 to {}", value, most));
            }
        } else {
            throw UsageError(fmt::format("--assume {}: must be ranks=N, dtype=TYPE, root=N or iterations=N", word));
        }
    }
    return assumed;
}

std::string formats_text() {
    std::string text = "Formats:\n";
    for (trace::TraceFormat const& format : trace::all_formats()) {
        text += fmt::format("  {:<16}{}\n", format.name, format.description);
    }
    return text;
}

}  // namespace

void TraceOptions::add(CLI::App& parser) {
    parser.add_option("FILES", files_, "files of all ranks: plain, gzip, tar or zip, or folders of such")->required();
    parser.add_option("--format", format_, "force a format (default: found out from the files)");
    parser
        .add_option("--assume", assumptions_, "what the trace does not say: ranks=N, dtype=TYPE, root=N, iterations=N")
        ->allow_extra_args(false);
    parser.footer(formats_text());
}

trace::Trace TraceOptions::read() const {
    return trace::read_trace({files_.begin(), files_.end()}, {format_, assumptions_of(assumptions_).reading});
}

std::optional<int> TraceOptions::iterations() const {
    return assumptions_of(assumptions_).iterations;
}

}  // namespace dlmb::trace::commands
