// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Sizes, elements and routes that a suite measures where its command line does not say.
#include "common/base/error.hpp"
#include "common/formats/plan/plan.hpp"
#include "common/run/options/suite_programs.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace dlmb::run {
namespace {

Bytes size_or(std::string const& text, Bytes standard, std::string_view option) {
    return text.empty() ? standard : parse_bytes(text, option);
}

/// From `min` to `max`, each `next` of the one before; OSU and nccl-tests leave the last out where they step over it.
template <class Next>
std::vector<std::string> stepped(Bytes min, Bytes max, std::string_view how, Next next) {
    constexpr std::size_t most = 1024;
    if (min > max) {
        throw UsageError(fmt::format("{}: the first size, {} B, is above the last, {} B", how, min, max));
    }
    std::vector<std::string> sizes;
    for (Bytes size = min;;) {
        sizes.push_back(fmt::format("{}:{}", size, size));
        Bytes const following = next(size);
        if (following > max || following <= size) {
            return sizes;
        }
        if (sizes.size() == most) {
            throw UsageError(fmt::format("{}: more than {} sizes; take larger steps", how, most));
        }
        size = following;
    }
}

std::vector<std::string> osu_sizes(SuiteCommand const& command, Bytes largest) {
    Bytes const max = size_or(command.max_bytes, largest, "-m");
    // A lone MAX below the first size is OSU's empty table; here it is that size.
    Bytes const min = size_or(command.min_bytes, std::min<Bytes>(1, max), "-m");
    return stepped(min, max, "-m", [](Bytes size) { return size == 0 ? 1 : size * 2; });
}

std::vector<std::string> nccl_sizes(SuiteCommand const& command) {
    constexpr Bytes mebi = 1U << 20U;
    constexpr std::string_view how = "-b, -e, -i and -f";
    Bytes const min = size_or(command.min_bytes, 32 * mebi, "-b");
    Bytes const max = size_or(command.max_bytes, 32 * mebi, "-e");
    Bytes const step = size_or(command.step_bytes, mebi, "-i");
    auto const factor = parse_whole<std::uint64_t>(command.step_factor.empty() ? "1" : command.step_factor);
    if (!factor) {
        throw UsageError(fmt::format("-f '{}': expected a whole number, for example 2", command.step_factor));
    }
    if (*factor > 1 && min > 0) {
        return stepped(min, max, how, [&](Bytes size) { return size > max / *factor ? 0 : size * *factor; });
    }
    return stepped(min, max, how, [&](Bytes size) { return size + step; });
}

}  // namespace

void take_suite_defaults(PatternType const& type, SuiteCommand const& command, ParameterLists& parameters) {
    if (!has_parameter(type, "operation")) {
        return;
    }
    Bytes largest = 0;
    std::string route;
    std::string whose;
    auto const given = parameters.find("operation");
    std::vector<std::string> none;
    for (std::string& name : given == parameters.end() ? none : given->second) {
        bool const ours = command.suite != Suite::nccl && has_operation(type, name);
        SuiteProgram const* const program = ours && !command.suite ? nullptr : find_program(type, command.suite, name);
        if (program == nullptr) {
            if (names_program(name)) {
                throw UsageError(fmt::format("--operation {}: {}", name, refused_program(type, name)));
            }
            continue;  // one of ours, or the pattern says which it has
        }
        if (!program->route.empty() && parameters.find("route") == parameters.end()) {
            route = program->route;
            whose = name;
        }
        if (program->threads && (!command.suite || parameters.find("channels") == parameters.end())) {
            throw UsageError(
                fmt::format("--operation {}: write --operation sendrecv --route ping_pong --channels N --method "
                            "threads --mpi-thread multiple, or, after --cli osu, osu_latency_mt -t N:N",
                            name));
        }
        if (!program->nccl_skew.empty() && (command.suite == Suite::nccl || name.ends_with("_perf")) &&
            parameters.find("skew") == parameters.end()) {
            if (given->second.size() > 1) {
                throw UsageError(fmt::format("--operation {}: sets --skew {}, so it is measured in a launch of its own",
                                             name, program->nccl_skew));
            }
            parameters["skew"] = {std::string(program->nccl_skew)};
        }
        largest = std::max(largest, program->osu_largest);
        name = program->operation;
    }
    if (!route.empty()) {
        if (given->second.size() > 1) {
            throw UsageError(
                fmt::format("--operation {}: sets --route {}, so it is measured in a launch of its own", whose, route));
        }
        parameters["route"] = {route};
    }
    if (!command.suite) {
        return;
    }
    if (command.suite == Suite::osu && parameters.find("element") == parameters.end()) {
        parameters["element"] = {"int8"};  // MPI_CHAR
    }
    if (parameters.find("message-size") == parameters.end()) {
        parameters["message-size"] = command.suite == Suite::osu
                                         ? osu_sizes(command, largest == 0 ? SuiteProgram{}.osu_largest : largest)
                                         : nccl_sizes(command);
    }
}

std::optional<Bytes> suite_size(Suite suite, Parameters const& parameters, int ranks, Bytes size) {
    auto const text = parameters.find("element");
    auto const element = text == parameters.end() ? std::nullopt : element_named(text->second);
    Bytes const unit = element ? size_of(*element) : 1;
    auto const found = parameters.find("operation");
    std::string_view const operation = found == parameters.end() ? std::string_view{} : found->second;
    auto const parts = static_cast<Bytes>(ranks);
    if (suite == Suite::osu) {
        if (operation == "reduce_scatter_block") {  // equal parts of whole elements, as many as fit
            Bytes const fitting = size / (unit * parts) * unit * parts;
            return size % unit == 0 && fitting > 0 ? std::optional(fitting) : std::nullopt;
        }
        return size % unit == 0 ? std::optional(size) : std::nullopt;
    }
    constexpr Bytes nccl_alignment = 16;
    Bytes const part = size / parts / nccl_alignment * nccl_alignment;
    if (operation == "reduce_scatter" || operation == "reduce_scatter_block") {
        return part * parts;
    }
    std::span<SuiteProgram const> const known = suite_programs();
    auto const route = parameters.find("route");
    bool const shared = std::any_of(known.begin(), known.end(), [&](SuiteProgram const& row) {
        bool const this_route = row.route.empty() || (route != parameters.end() && route->second == row.route);
        return row.per_rank && row.operation == operation && this_route;
    });
    return shared ? part : size / unit * unit;
}

}  // namespace dlmb::run
