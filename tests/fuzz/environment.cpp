// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Variables of the environment, "NAME=value" per line: what a record keeps of them, and what they say of the launcher.
#include "common/base/units.hpp"
#include "common/bootstrap/launch_guard.hpp"
#include "common/measure/environment/variables.hpp"
#include "tests/fuzz/fuzz.hpp"
#include "tests/fuzz/targets.hpp"

namespace dlmb::fuzz {

void environment(std::string_view input) {
    LauncherVariables variables;
    for (std::string_view const line : split(input, "\n")) {
        std::size_t const equals = std::min(line.find('='), line.size());
        variables.emplace(line.substr(0, equals), line.substr(std::min(equals + 1, line.size())));
    }
    for (auto const& [name, value] : measure::recorded_variables(variables)) {
        require(variables.contains(name), "a variable that is not there");
        require(value != variables.find(name)->second || !measure::looks_like_credential(value),
                "a credential is kept");
    }
    LauncherInfo const info = launcher_info(variables);
    require(info.ranks >= 0 && info.rank.value_or(0) >= 0 && info.local_rank.value_or(0) >= 0, "a negative rank");
    (void)started_by_launcher(variables);
    for (char const* const library : {"Open MPI v4.1.4", "MPICH 4.0.2", ""}) {
        (void)refusal_before_init(variables, library);
        (void)refusal_after_init(variables, library, 1);
    }
    (void)launch_warning(variables, 1, 0);
}

}  // namespace dlmb::fuzz
