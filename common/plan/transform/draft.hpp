// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// What transformations work on: the steps of a plan without places in buffers.
#pragma once

#include "common/plan/plan.hpp"

#include <string>
#include <vector>

namespace dlmb {

/// Places are given anew, by lay_out_all().
struct Draft {
    Operation operation;
    std::vector<StepId> after;
    std::string label;
    int microbatch = -1;
    bool in_place = false;
    bool shared = false;
};

template <class Operation>
inline constexpr bool has_shares = requires(Operation operation) {
    operation.shares;
};
template <class Operation>
inline constexpr bool has_bytes = requires(Operation operation) {
    operation.bytes;
};  // the collectives with data

[[nodiscard]] std::vector<Draft> drafts_of(Plan const& plan);

/// A plan of these steps, with the groups of `plan`.
[[nodiscard]] Plan lay_out_all(Plan const& plan, std::vector<Draft> const& drafts);

}  // namespace dlmb
