// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Which backend each step of a plan runs on where a change of backend costs something: a step that is a little faster
// elsewhere is not worth two changes. The choice by shortest path is that of "Data Movement Is All You Need" (arXiv
// 2007.00072, section 5) for layouts, here for backends.
#pragma once

#include "common/backend_kit/chooser.hpp"

#include <map>
#include <span>
#include <string>
#include <vector>

namespace dlmb::tuned {

/// The cost of a change to another backend, nanoseconds, by the backend that is left; 0 where none is given. A change
/// of method inside a backend costs nothing here.
using LeavingCosts = std::map<std::string, double, std::less<>>;

/// One way of each step, so that times and changes together take least. The plan repeats: its first step follows its
/// last one. Of equal ones the earlier ways. `ways`: by step, none of them empty. O(steps * ways^3).
[[nodiscard]] std::vector<StepChoice> shortest_path(std::span<std::vector<PricedChoice> const> ways,
                                                    LeavingCosts const& leaving_ns);

}  // namespace dlmb::tuned
