// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/record/node_conditions.hpp"

#include "common/record/machine.hpp"

#include <fmt/core.h>

#include <fstream>
#include <set>

namespace dlmb::record {
namespace {

namespace fs = std::filesystem;

/// The first word; empty where the file cannot be read.
std::string first_word(fs::path const& path) {
    std::ifstream file(path);
    std::string word;
    file >> word;
    return word;
}

}  // namespace

NodeConditions read_conditions(fs::path const& root) {
    NodeConditions conditions;
    conditions.governor = first_word(root / "sys/devices/system/cpu/cpu0/cpufreq/scaling_governor");
    std::ifstream load(root / "proc/loadavg");
    load.imbue(std::locale::classic());
    load >> conditions.load;
    return conditions;
}

std::vector<int> cores_of(std::vector<int> const& units, fs::path const& root) {
    std::set<int> cores;
    for (int const unit : units) {
        std::vector<int> const siblings = parse_cpu_list(
            first_word(root / fmt::format("sys/devices/system/cpu/cpu{}/topology/thread_siblings_list", unit)));
        cores.insert(siblings.empty() ? unit : siblings.front());
    }
    return {cores.begin(), cores.end()};
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

}  // namespace dlmb::record
