// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/run/options/suite_programs.hpp"

#include "common/base/error.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace dlmb::run {

std::string without_markup(std::string_view here) {
    std::string text(here);
    std::erase(text, '`');
    return text;
}

bool has_operation(PatternType const& type, std::string_view name) {
    return has_parameter(type, "operation") &&
           std::find(type.phases.begin(), type.phases.end(), name) != type.phases.end();
}

SuiteProgram const* find_program(PatternType const& type, std::optional<Suite> suite, std::string_view text) {
    bool const perf = text.ends_with("_perf");
    bool const prefixed = text.starts_with("osu_");
    std::string_view const name = prefixed ? text.substr(4) : perf ? text.substr(0, text.size() - 5) : text;
    bool const may_be_osu = prefixed || (!perf && suite != Suite::nccl);
    bool const may_be_nccl = perf || (!prefixed && suite != Suite::osu);
    std::span<SuiteProgram const> const known = suite_programs();
    auto const found = std::find_if(known.begin(), known.end(), [&](SuiteProgram const& row) {
        return !name.empty() && has_operation(type, row.operation) &&
               ((may_be_osu && row.osu == name) || (may_be_nccl && row.nccl == name));
    });
    return found == known.end() ? nullptr : &*found;
}

bool names_program(std::string_view text) {
    return text.starts_with("osu_") || text.ends_with("_perf");
}

std::optional<ProgramVariant> find_variant(PatternType const& type, std::string_view text) {
    std::string_view name = text.starts_with("osu_") ? text.substr(4) : text;
    ProgramVariant variant{};
    if (name.ends_with("_persistent")) {
        name.remove_suffix(std::string_view("_persistent").size());
        variant.method = "persistent";
    } else if (name.starts_with('i')) {
        name.remove_prefix(1);
        variant.method = "nonblocking";
        variant.beside_compute = true;
    } else if (name == "alltoallw") {
        name = "alltoallv";
        variant.method = "alltoallw";
    }
    if (name == "put_bw" || name == "get_bw") {
        variant.method = name.substr(0, 3);
        variant.one_sided = true;
        name.remove_prefix(4);
    }
    if (name == "neighbor_alltoall" || name == "neighbor_alltoallv") {
        name = "alltoallv";
        variant.method = "neighbor";
        variant.neighbors = true;
    }
    variant.program = variant.method.empty() ? nullptr : find_program(type, Suite::osu, name);
    return variant.program == nullptr ? std::nullopt : std::optional(variant);
}

namespace {

/// Programs of both suites: those that run, and those that are refused with a reason.
std::vector<std::string> program_names() {
    std::vector<std::string> names;
    for (SuiteProgram const& row : suite_programs()) {
        if (!row.osu.empty()) {
            names.push_back(fmt::format("osu_{}", row.osu));
        }
        if (!row.nccl.empty()) {
            names.push_back(fmt::format("{}_perf", row.nccl));
        }
    }
    for (RefusedProgram const& row : refused_programs()) {
        names.emplace_back(row.name);
    }
    return names;
}

}  // namespace

std::string refused_program(PatternType const& type, std::string_view text) {
    std::span<RefusedProgram const> const refused = refused_programs();
    auto const row = std::find_if(refused.begin(), refused.end(), [&](RefusedProgram const& each) {
        return each.name == text || each.name == fmt::format("osu_{}", text);
    });
    if (row != refused.end() && has_parameter(type, "operation")) {
        return fmt::format("{} (docs/from-osu-and-nccl-tests.md)", without_markup(row->here));
    }
    constexpr std::string_view with_nccl = "osu_xccl_";
    if (text.starts_with(with_nccl)) {
        return fmt::format("write osu_{} --backend nccl --memory cuda", text.substr(with_nccl.size()));
    }
    if (std::optional<ProgramVariant> const variant = find_variant(type, text)) {
        std::string_view const route = variant->program->route;
        return fmt::format("write --operation {}{}{} --method {}", variant->program->operation,
                           route.empty() ? "" : fmt::format(" --route {}", route),
                           variant->neighbors ? fmt::format(" --skew {}", osu_neighbors) : "", variant->method) +
               (variant->one_sided ? ":sync=flush:window=allocate" : "");
    }
    if (!has_parameter(type, "operation")) {
        return "dlmb_collective has the programs of the suites";
    }
    return unknown_name("program", text, program_names()) + " (docs/from-osu-and-nccl-tests.md)";
}

}  // namespace dlmb::run
