// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Faults of libraries that are known in public, asked when received bytes are wrong: who measures is to know that the
// library did it, and what helps. What a library cannot do at all is refused before (backends/*/library_faults.hpp).
#pragma once

#include "common/formats/plan/plan.hpp"
#include "common/formats/record/record.hpp"

#include <map>
#include <span>
#include <string>

namespace dlmb::run {

/// "a known fault of ...: symptom; remedy (thread)" of the fault that explains wrong bytes of this cell, whose plans
/// these are; empty: none is known. `variables`: of the launch's environment.
[[nodiscard]] std::string known_fault(record::Record const& cell, std::span<Plan const> plans,
                                      std::map<std::string, std::string> const& variables);

}  // namespace dlmb::run
