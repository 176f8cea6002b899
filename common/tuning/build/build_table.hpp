// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// From observations of several launches to the rules of a table.
#pragma once

#include "common/tuning/build/observation.hpp"
#include "common/tuning/build/regions.hpp"
#include "common/tuning/table.hpp"

#include <vector>

namespace dlmb::tuning {

/// Points of one scope and place, ascending.
struct Series {
    std::string scope;
    Place place;
    std::vector<Point> points;
};

struct Built {
    std::vector<Series> series;
    std::vector<Rule> rules;
};

/// Methods inside each backend, then which backend is selected. `confirm`: fresh launches; a size where they have
/// nothing to say stays unconfirmed. Sizes, launches and gains of a rule are those of all points inside it.
[[nodiscard]] Built build_rules(std::vector<Observation> const& search, std::vector<Observation> const& confirm,
                                Policy const& policy, bool accept_unconfirmed);

}  // namespace dlmb::tuning
