// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/record/warnings.hpp"

#include "common/base/version.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <set>

namespace dlmb::record {

std::vector<std::string> build_warnings() {
    std::vector<std::string> warnings;
    if (build_info().build_type == "Debug") {
        warnings.emplace_back(
            "this is a Debug build: its times are not those of the library it measures; use the release preset");
    }
    if (!build_info().sanitizers.empty()) {
        warnings.push_back(
            fmt::format("this build runs under sanitizers ({}): its times mean nothing", build_info().sanitizers));
    }
    return warnings;
}

std::vector<std::string> node_warnings(Placement const& placement) {
    std::vector<std::string> warnings;
    auto const& reference = placement.nodes.at(placement.ranks.front().host);
    for (auto const& [host, facts] : placement.nodes) {
        for (auto const& [name, value] : facts) {
            if (auto const expected = reference.at(name); value != expected) {
                warnings.push_back(fmt::format("node {} differs from {}: {} is '{}', not '{}'", host,
                                               placement.ranks.front().host, name, value, expected));
            }
        }
    }
    return warnings;
}

std::vector<std::string> placement_warnings(std::vector<RankPlace> const& ranks,
                                            std::map<std::string, int> const& units) {
    std::vector<std::string> warnings;
    auto const unbound = std::count_if(ranks.begin(), ranks.end(), [](RankPlace const& place) { return !place.bound; });
    if (unbound > 0) {
        warnings.push_back(
            fmt::format("{} of {} ranks are not bound and may migrate between processing units; bind them with "
                        "mpirun --bind-to core or srun --cpu-bind=cores",
                        unbound, ranks.size()));
    }
    std::map<std::string, int> ranks_on;
    for (RankPlace const& place : ranks) {
        ++ranks_on[place.host];
    }
    for (auto const& [host, count] : ranks_on) {
        auto const offered = units.find(host);
        if (offered != units.end() && count > offered->second) {
            warnings.push_back(fmt::format("{} ranks share {} processing units on {}: times include waiting for a turn",
                                           count, offered->second, host));
        }
    }
    return warnings;
}

std::vector<std::string> condition_warnings(std::map<std::string, int> const& ranks_on,
                                            std::map<std::string, NodeConditions> const& conditions) {
    std::vector<std::string> warnings;
    for (auto const& [host, condition] : conditions) {
        if (!condition.governor.empty() && condition.governor != "performance") {
            warnings.push_back(fmt::format("the frequency governor of {} is '{}': times follow the clock; set it with "
                                           "cpupower frequency-set -g performance",
                                           host, condition.governor));
        }
        auto const ranks = ranks_on.find(host);
        if (ranks != ranks_on.end() && condition.load > ranks->second) {
            warnings.push_back(fmt::format("{} had a load of {:.1f} before its {} ranks began: other work takes their "
                                           "time",
                                           host, condition.load, ranks->second));
        }
    }
    return warnings;
}

std::vector<std::string> sibling_warnings(std::vector<CoreUse> const& ranks) {
    std::map<std::string, std::map<int, std::set<std::vector<int>>>> users;  // host, core: sets of units
    for (CoreUse const& rank : ranks) {
        if (rank.bound) {
            for (int const core : rank.cores) {
                users[rank.host][core].insert(rank.units);
            }
        }
    }
    std::vector<std::string> warnings;
    for (auto const& [host, cores] : users) {
        int shared = 0;
        for (auto const& [core, sets] : cores) {
            shared += sets.size() > 1 ? 1 : 0;
        }
        if (shared > 0) {
            warnings.push_back(
                fmt::format("on {} ranks share {} cores as their hardware threads: each slows the other; "
                            "give each a core with mpirun --bind-to core or srun --cpu-bind=cores",
                            host, shared));
        }
    }
    return warnings;
}

std::vector<std::string> device_warnings(Environment const& environment) {
    std::vector<std::string> warnings;
    std::vector<Rank> far;
    for (RankPlace const& place : environment.ranks) {
        if (place.device && place.device->other_numa_node) {
            far.push_back(place.rank);
        }
    }
    if (!far.empty()) {
        warnings.push_back(
            fmt::format("{} of {} ranks run on another NUMA node than their GPU (the first: rank {}): what the host "
                        "reads and writes there crosses sockets; bind ranks near their GPUs, or choose with --device",
                        far.size(), environment.ranks.size(), far.front()));
    }
    if (on_test_double(environment)) {
        warnings.emplace_back(test_double_warning);
    }
    return warnings;
}

}  // namespace dlmb::record
