// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/run/known_faults.hpp"

#include "common/base/units.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <variant>

namespace dlmb::run {
namespace {

/// Whether a plan has a step that the fault shows in.
using Concerns = bool (*)(Plan const& plan);

struct Fault {
    std::string_view fact;     // of the backend, that names the library
    std::string_view library;  // how that fact begins; the version follows
    int first;                 // major * 100 + minor; all later ones have it, as far as is known
    int last;
    Concerns concerns;
    std::string_view symptom;
    std::string_view remedy;
    std::string_view variable;  // of the remedy, "NAME=VALUE": where it is set already, this was not the fault
    std::string_view thread;
};

bool adds_bytes_anywhere(Plan const& plan) {
    return std::any_of(plan.steps.begin(), plan.steps.end(), [](Step const& each) {
        auto const* step = std::get_if<Collective>(&each.operation);
        return step != nullptr && reduces(step->kind) && step->reduction == Reduction::sum &&
               (step->element == Element::byte || step->element == Element::int8);
    });
}

// Open MPI: closed as "wontfix" in 2020 for the 4.1 series and the main branch; seen with 4.1.4.
constexpr std::array faults{
    Fault{"mpi_library", "Open MPI v", 401, 9999, adds_bytes_anywhere,
          "its component op/avx adds integers of 8 and 16 bits with saturation (255 instead of 144 for 200 + 200)",
          "set OMPI_MCA_op=^avx", "OMPI_MCA_op=^avx", "https://github.com/open-mpi/ompi/issues/8045"},
};

/// 401 of "4.1.4, package ..."; 0 where there is no such number.
int version_of(std::string_view text) {
    std::size_t const point = text.find('.');
    if (point == std::string_view::npos) {
        return 0;
    }
    std::size_t const end = std::min(text.find_first_not_of("0123456789", point + 1), text.size());
    auto const major = parse_whole<int>(text.substr(0, point));
    auto const minor = parse_whole<int>(text.substr(point + 1, end - point - 1));
    constexpr int minors = 100;
    return major && minor && *major < minors && *minor < minors ? *major * minors + *minor : 0;
}

bool is_set(std::string_view assignment, std::map<std::string, std::string> const& variables) {
    std::size_t const equals = assignment.find('=');
    auto const found = variables.find(std::string(assignment.substr(0, equals)));
    return found != variables.end() && found->second == assignment.substr(equals + 1);
}

}  // namespace

std::string known_fault(record::Record const& cell, std::span<Plan const> plans,
                        std::map<std::string, std::string> const& variables) {
    for (Fault const& fault : faults) {
        auto const found = cell.backend_facts.find(fault.fact);
        if (found == cell.backend_facts.end() || !found->second.starts_with(fault.library)) {
            continue;
        }
        int const version = version_of(std::string_view(found->second).substr(fault.library.size()));
        if (version >= fault.first && version <= fault.last && !is_set(fault.variable, variables) &&
            std::any_of(plans.begin(), plans.end(), fault.concerns)) {
            return fmt::format("a known fault of {}: {}; {} ({})",
                               std::string_view(found->second).substr(0, found->second.find(',')), fault.symptom,
                               fault.remedy, fault.thread);
        }
    }
    return {};
}

}  // namespace dlmb::run
