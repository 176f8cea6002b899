// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// The conditions of a rule, one after the other: the one list of them for matching, for proving that rules are disjoint
// and for putting them in order.
#pragma once

#include "common/tuning/rule.hpp"

namespace dlmb::tuning {

/// Whether `holds` is true of each pair of equally named conditions, the operation excepted. `Other`: a When or a
/// Query.
template <class Other, class Holds>
[[nodiscard]] bool all_conditions(When const& when, Other const& other, Holds holds) {
    return holds(when.bytes, other.bytes) && holds(when.ranks, other.ranks) && holds(when.nodes, other.nodes) &&
           holds(when.memory, other.memory) && holds(when.dtype, other.dtype) &&
           holds(when.reduction, other.reduction) && holds(when.ranks_per_node, other.ranks_per_node) &&
           holds(when.distribution, other.distribution) && holds(when.commutative, other.commutative) &&
           holds(when.registered, other.registered) && holds(when.in_place, other.in_place) &&
           holds(when.uniform, other.uniform) && holds(when.imbalance, other.imbalance) &&
           holds(when.group_ops, other.group_ops) && holds(when.group_pipe_ops, other.group_pipe_ops) &&
           holds(when.link, other.link) && holds(when.overlap, other.overlap);
}

/// Some operation fulfils both.
[[nodiscard]] bool meets(When const& one, When const& other);
/// Every operation that fulfils `inner` fulfils `outer`.
[[nodiscard]] bool covers(When const& outer, When const& inner);

}  // namespace dlmb::tuning
