// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Collectives of one group with a bounded number under way, as a communication stream keeps them.
#pragma once

#include "common/formats/plan/builder.hpp"
#include "patterns/readers.hpp"

#include <optional>
#include <string>
#include <vector>

namespace dlmb {

struct QueueSettings {
    int in_flight = 1;
    bool in_place = false;
    Bytes memory_limit = 0;
};

/// Step i waits for step i - in_flight. Steps beyond the memory limit share buffers. The ranks of a group add the same
/// steps, so they agree on both. `count`: elements of the whole buffer, the gathered or the unreduced one.
class CollectiveQueue {
public:
    CollectiveQueue(Rank me, Group group, QueueSettings const& settings);

    void all_reduce(std::string label, std::uint64_t count, Element element, Reduction reduction = Reduction::sum);
    /// `packing`: each rank's part travels as a row of this format, between a step that packs it and one that unpacks
    /// all.
    void all_gather(std::string label, std::uint64_t count, Element element,
                    std::optional<BlockFormat> packing = std::nullopt);
    /// Gathers a tensor [rows, columns] of which each rank has equally many columns. They travel as [rows, columns /
    /// ranks]. `pack` moves what arrives to its place: `none` leaves it as it came, and `fused` is an exchange in place
    /// of the all-gather.
    void all_gather_columns(std::string const& label, std::uint64_t rows, std::uint64_t columns, Element element,
                            Pack pack);
    /// `needs`: a step added before that it waits for, too.
    void reduce_scatter(std::string label, std::uint64_t count, Element element, std::optional<StepId> needs = {});
    /// From the first rank of the group.
    void broadcast(std::string label, std::uint64_t count, Element element);

    /// The step added last.
    [[nodiscard]] StepId last() const { return recent_.back(); }
    /// Steps added from now on wait for all before.
    void wait_for_all();
    void microbatch(int number) { builder_.microbatch(number); }

    [[nodiscard]] Plan finish() && { return std::move(builder_).finish(); }

private:
    void take(Bytes sent, Bytes delivered);
    [[nodiscard]] std::vector<StepId> after() const;

    PlanBuilder builder_;
    Bytes ranks_;
    GroupId group_;
    QueueSettings settings_;
    BufferBudget budget_;
    std::vector<StepId> awaited_;  // by steps that nothing else holds back
    std::vector<StepId> recent_;   // since the last wait_for_all
};

}  // namespace dlmb
