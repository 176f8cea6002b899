// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "common/formats/plan/builder.hpp"
#include "tests/unit/plan_memory.hpp"

#include <utility>
#include <vector>

namespace dlmb::in_process::testing {

/// A dispatch, an allreduce beside it, a combine after both.
inline Plan layered_plan(Rank me, int ranks) {
    PlanBuilder builder(me);
    GroupId const all = builder.group(world_of(ranks));
    std::vector<Bytes> const bytes(static_cast<std::size_t>(ranks), 100);
    StepId const dispatch = builder.exchange(all, bytes, bytes, "dispatch");
    StepId const reduce = builder.all_reduce(all, 400, Element::fp32, Reduction::sum, "reduce");
    builder.exchange(all, bytes, bytes, "combine", {dispatch, reduce});
    return std::move(builder).finish();
}

}  // namespace dlmb::in_process::testing
