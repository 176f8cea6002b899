// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Lays blocks out in named buffers. Receive blocks get a gap of untouched bytes around them, which the payload check
// reads as guard bands (equal blocks, which libraries take packed, one gap around all); every phase has its own
// buffers.
#pragma once

#include "common/plan/plan.hpp"

#include <span>
#include <string>
#include <utility>
#include <vector>

namespace dlmb {

class PlanBuilder {
public:
    explicit PlanBuilder(Rank me) { plan_.me = me; }

    GroupId group(Group group);  // the same members give the same id
    /// `send_bytes[p]`, `recv_bytes[p]`: bytes to and from group rank p; zeros leave no block. Makes buffers
    /// "<label>.send" and "<label>.recv".
    StepId exchange(GroupId group, std::span<Bytes const> send_bytes, std::span<Bytes const> recv_bytes,
                    std::string label, std::vector<StepId> after = {});
    StepId all_gather(GroupId group, Bytes gathered_bytes, Element element, std::string label,
                      std::vector<StepId> after = {});
    StepId all_reduce(GroupId group, Bytes bytes, Element element, Reduction reduction, std::string label,
                      std::vector<StepId> after = {});
    StepId reduce_scatter(GroupId group, Bytes bytes, Element element, Reduction reduction, std::string label,
                          std::vector<StepId> after = {});
    StepId broadcast(GroupId group, Rank root, Bytes bytes, Element element, std::string label,
                     std::vector<StepId> after = {});
    StepId send(GroupId group, Rank to, Bytes bytes, int channel, int batch, std::string label,
                std::vector<StepId> after = {});
    StepId recv(GroupId group, Rank from, Bytes bytes, int channel, int batch, std::string label,
                std::vector<StepId> after = {});
    StepId compute(Nanoseconds busy_ns, std::string label, std::vector<StepId> after = {});

    [[nodiscard]] Plan finish() && { return std::move(plan_); }

private:
    Rank group_size(GroupId group) const;
    Region add_buffer(std::string name, Bytes bytes, bool guarded);
    StepId add_step(Operation operation, std::vector<StepId> after, std::string label);

    Plan plan_;
};

/// Bytes of untouched memory before, between and after receive blocks; also the alignment of every block.
inline constexpr Bytes guard_bytes = 64;

}  // namespace dlmb
