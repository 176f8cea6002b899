// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/tuning/table.hpp"

#include <algorithm>
#include <tuple>

namespace dlmb::tuning {
namespace {

auto place_of(Rule const& rule) {
    When const& when = rule.when;
    return std::tie(rule.scope, when.operation, when.ranks, when.nodes, when.memory, when.bytes, when.dtype,
                    when.reduction, when.ranks_per_node, when.distribution, when.commutative, when.registered,
                    when.in_place, when.uniform, when.imbalance, when.group_ops, when.group_pipe_ops, when.link,
                    when.overlap, rule.id);
}

}  // namespace

void sort_rules(TuningTable& table) {
    std::sort(table.rules.begin(), table.rules.end(),
              [](Rule const& one, Rule const& other) { return place_of(one) < place_of(other); });
}

}  // namespace dlmb::tuning
