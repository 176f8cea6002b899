// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/tuning/validate.hpp"

#include "common/tuning/conditions.hpp"
#include "common/tuning/validate_rule.hpp"

#include <fmt/core.h>

#include <map>
#include <set>

namespace dlmb::tuning {
namespace {

void check_system(System const& system, std::vector<Problem>& problems) {
    if (system.key.empty()) {
        problems.push_back({"system.key", "is empty; a table holds for one system, give its key"});
    }
    if (system.cpu.empty()) {
        problems.push_back({"system.cpu", "is empty; name the processor"});
    }
    if (!system.gpu) {
        return;
    }
    // An empty name would equal that of any machine that failed to ask its driver.
    if (system.gpu->name.empty()) {
        problems.push_back({"system.gpu.name", "is empty; name the device, or leave out 'gpu' where none was used"});
    }
    if (system.gpu->arch.empty()) {
        problems.push_back({"system.gpu.arch", "is empty; name the architecture, for example sm_90"});
    }
    if (system.gpu->processors == 0) {
        problems.push_back({"system.gpu.processors", "is 0; give the number of SMs or compute units"});
    }
    if (system.gpu->per_node == 0) {
        problems.push_back({"system.gpu.per_node", "is 0; give the number of devices per node"});
    }
}

std::string path_of(std::size_t rule) {
    return fmt::format("rules[{}]", rule);
}

void check_ids(std::vector<Rule> const& rules, std::vector<Problem>& problems) {
    std::set<std::string_view> ids;
    for (std::size_t i = 0; i < rules.size(); ++i) {
        if (rules[i].id.empty()) {
            problems.push_back({path_of(i) + ".id", "is empty; every rule needs a name of its own"});
        } else if (!ids.insert(rules[i].id).second) {
            problems.push_back({path_of(i) + ".id", fmt::format("'{}' is there twice; ids are unique", rules[i].id)});
        }
    }
}

/// Rules of one scope and operation are compared pairwise: there are some dozens of them.
void check_disjoint(std::vector<Rule> const& rules, std::vector<Problem>& problems) {
    std::map<std::pair<std::string_view, TunedOperation>, std::vector<std::size_t>> earlier;
    for (std::size_t i = 0; i < rules.size(); ++i) {
        auto& places = earlier[{rules[i].scope, rules[i].when.operation}];
        for (std::size_t const j : places) {
            if (covers(rules[j].when, rules[i].when)) {
                problems.push_back({path_of(i), fmt::format("'{}' is dead: '{}' before it matches all that it does; "
                                                            "remove one of them",
                                                            rules[i].id, rules[j].id)});
            } else if (meets(rules[j].when, rules[i].when)) {
                problems.push_back({path_of(i), fmt::format("'{}' overlaps '{}'; split them so that no operation "
                                                            "matches both",
                                                            rules[i].id, rules[j].id)});
            }
        }
        places.push_back(i);
    }
}

}  // namespace

std::vector<Problem> validate(TuningTable const& table) {
    std::vector<Problem> problems;
    check_system(table.system, problems);
    for (std::size_t i = 0; i < table.rules.size(); ++i) {
        validate_rule(table.rules[i], path_of(i), problems);
        std::string const& memory = table.rules[i].when.memory;
        if (!table.system.gpu && !memory.empty() && memory != "host") {
            problems.push_back({path_of(i) + ".when.memory",
                                fmt::format("is {}, but 'system' names no gpu that this was measured on", memory)});
        }
    }
    check_ids(table.rules, problems);
    check_disjoint(table.rules, problems);
    return problems;
}

}  // namespace dlmb::tuning
