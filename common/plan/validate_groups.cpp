// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// One plan's groups. Whether other ranks have the same groups is for validate_collectives.cpp.
#include "common/plan/validation.hpp"

#include <fmt/core.h>

#include <algorithm>

namespace dlmb::validation {
namespace {

void check_group(Plan const& plan, std::size_t id, Problems& problems) {
    auto const fail = [&](std::string const& text) {
        problems.push_back({plan.me, 0, fmt::format("rank {} group {} {}", plan.me, id, text)});
    };
    std::vector<Rank> sorted = plan.groups[id].members;
    if (!std::is_sorted(sorted.begin(), sorted.end())) {
        std::sort(sorted.begin(), sorted.end());
    }
    if (!sorted.empty() && sorted.front() < 0) {
        fail(fmt::format("names rank {}", sorted.front()));
    }
    if (auto const twice = std::adjacent_find(sorted.begin(), sorted.end()); twice != sorted.end()) {
        fail(fmt::format("names rank {} twice", *twice));
    }
    if (!std::binary_search(sorted.begin(), sorted.end(), plan.me)) {
        fail("does not contain the rank");
    }
    // Two ids of one group would let ranks post on different communicators what is matched here as one group.
    auto const here = plan.groups.begin() + static_cast<std::ptrdiff_t>(id);
    if (auto const same = std::find(plan.groups.begin(), here, *here); same != here) {
        fail(fmt::format("repeats group {}", same - plan.groups.begin()));
    }
}

}  // namespace

void check_groups(Plan const& plan, Problems& problems) {
    for (std::size_t id = 0; id < plan.groups.size(); ++id) {
        check_group(plan, id, problems);
    }
}

}  // namespace dlmb::validation
