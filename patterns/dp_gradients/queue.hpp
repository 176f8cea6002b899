// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Collectives of one group with a bounded number under way, as a communication stream keeps them.
#pragma once

#include "common/plan/builder.hpp"
#include "patterns/buffer_budget.hpp"
#include "patterns/dp_gradients/params.hpp"

#include <string>
#include <vector>

namespace dlmb::dp_gradients {

/// Step i waits for step i - in_flight. Steps beyond the memory limit share buffers. The ranks of a group add the same
/// steps, so they agree on both.
class Queue {
public:
    Queue(Params const& params, WorldShape const& world, Rank me);

    void all_reduce(std::string label, Bytes bytes, Element element, Reduction reduction = Reduction::sum);
    /// `elements` as everywhere: the gathered, or the unreduced, size; a multiple of the ranks.
    void all_gather(std::string label, std::uint64_t elements, Element element);
    void reduce_scatter(std::string label, std::uint64_t elements, Element element);
    /// From the first rank of the group.
    void broadcast(std::string label, Bytes bytes, Element element);

    /// Steps added from now on wait for all before.
    void wait_for_all();
    void microbatch(int number) { builder_.microbatch(number); }

    [[nodiscard]] Plan finish() && { return std::move(builder_).finish(); }

private:
    void take(Bytes sent, Bytes delivered);
    [[nodiscard]] std::vector<StepId> after() const;

    Params const& params_;
    PlanBuilder builder_;
    GroupId group_;
    BufferBudget budget_;
    std::vector<StepId> awaited_;  // by steps that nothing else holds back
    std::vector<StepId> recent_;   // since the last wait_for_all
};

}  // namespace dlmb::dp_gradients
