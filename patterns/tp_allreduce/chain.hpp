// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Collectives of one group, one after the other: in a transformer every one needs the result of the last.
#pragma once

#include "common/plan/builder.hpp"
#include "patterns/buffer_budget.hpp"

#include <string>
#include <vector>

namespace dlmb::tp_allreduce {

/// Steps beyond `memory_limit` bytes of buffers share theirs. The ranks of a group add the same steps, so they agree.
class Chain {
public:
    Chain(Rank me, Group const& group, Bytes memory_limit);

    void all_reduce(std::string label, Bytes bytes, Element element, Reduction reduction);
    /// `bytes` as everywhere: the gathered, or the unreduced, size.
    void all_gather(std::string label, Bytes bytes, Element element);
    void reduce_scatter(std::string label, Bytes bytes, Element element);
    /// From the first rank of the group.
    void broadcast(std::string label, Bytes bytes, Element element);

    [[nodiscard]] Plan finish() && { return std::move(builder_).finish(); }

private:
    void take(Bytes bytes) { builder_.share_buffers(!budget_.take(bytes)); }
    void append(StepId step) { after_ = {step}; }

    PlanBuilder builder_;
    GroupId group_;
    Bytes ranks_;
    BufferBudget budget_;
    std::vector<StepId> after_;
};

}  // namespace dlmb::tp_allreduce
