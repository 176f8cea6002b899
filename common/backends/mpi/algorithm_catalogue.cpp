// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/backends/mpi/algorithm_catalogue.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace dlmb::mpi {
namespace {

constexpr Bytes kibi = 1024;

bool serves(CollectiveCall call, OperationUse const& use) {
    return operation_of(call) == use.kind && (call != CollectiveCall::alltoall || use.uniform);
}

bool serves(CollectiveCall call, std::span<OperationUse const> uses) {
    return std::any_of(uses.begin(), uses.end(), [&](OperationUse const& use) { return serves(call, use); });
}

}  // namespace

std::string knobs_of(AlgorithmCatalogue const& catalogue) {
    std::vector<std::string> knobs;
    std::set<AlgorithmSetting> settings;
    for (auto const& [call, offered] : catalogue.calls) {
        std::vector<std::string> names;
        for (NamedValue const& item : offered.algorithms) {
            names.push_back(item.name);
        }
        knobs.push_back(fmt::format("{}={}", name_of(call), fmt::join(names, "|")));
        for (auto const& [setting, variable] : offered.settings) {
            settings.insert(setting);
        }
    }
    for (AlgorithmSetting const setting : settings) {
        knobs.push_back(fmt::format("{}={}", name_of(setting), setting == AlgorithmSetting::segment ? "SIZE" : "N"));
    }
    return knobs.empty() ? fmt::format("(none: {})", catalogue.why_not) : fmt::format("{}", fmt::join(knobs, ", "));
}

std::vector<MethodChoice> algorithm_variants(AlgorithmCatalogue const& catalogue, std::span<OperationUse const> uses) {
    std::vector<MethodChoice> variants;
    for (CollectiveCall const call : every_collective_call) {
        if (!serves(call, uses)) {
            continue;
        }
        if (!catalogue.why_not.empty()) {
            return {{std::string(algorithm_method), {}}};
        }
        auto const offered = catalogue.calls.find(call);
        if (offered == catalogue.calls.end()) {
            continue;
        }
        for (NamedValue const& item : offered->second.algorithms) {
            for (Bytes const segment : catalogue.segments(call, item.name)) {
                MethodChoice choice{std::string(algorithm_method), {{std::string(name_of(call)), item.name}}};
                if (segment > 0) {
                    choice.knobs.emplace(name_of(AlgorithmSetting::segment), fmt::format("{}K", segment / kibi));
                }
                variants.push_back(std::move(choice));
            }
        }
    }
    return variants;
}

AlgorithmCatalogue find_algorithms(std::string_view version) {
    start_tool_interface();
    if (ControlVariable::find("coll_tuned_use_dynamic_rules")) {
        return open_mpi_algorithms();
    }
    if (ControlVariable::find("MPIR_CVAR_ALLREDUCE_INTRA_ALGORITHM")) {
        return mpich_algorithms(version);
    }
    AlgorithmCatalogue none;
    none.why_not = fmt::format("this library ({}) has no variables that choose an algorithm", version);
    return none;
}

}  // namespace dlmb::mpi
