// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// --wire low_latency: the traffic of DeepEP's low-latency kernels (csrc/kernels/internode_ll.cu). Each row is put into
// a slot of its own at the receiver, and one flag per (source rank, expert) follows them, also where there are none:
//
//   dispatch   slot [local expert][source rank][row], of one message: 16 B (index of the token) and the row
//   combine    slot [expert][row], of one row: the row of the same number of that expert. (DeepEP numbers by token.)
//
// No counts are exchanged before: slots are as many as tokens.
#pragma once

#include "common/formats/plan/builder.hpp"
#include "patterns/moe_alltoall/expert_placement.hpp"
#include "patterns/moe_alltoall/params.hpp"

#include <string>
#include <vector>

namespace dlmb::moe_alltoall {

/// 16 B + the dispatch row: 7408 at hidden 7168 in fp8, 14352 in bf16.
[[nodiscard]] Bytes low_latency_message_bytes(Element element, std::uint64_t hidden);

/// Rows of one layer, by rank of the group and then by its experts in the order of ExpertPlacement::experts_of().
using RowsOfExperts = std::vector<std::vector<std::uint64_t>>;

/// Rows that one rank sends in one layer, and rows that it receives: by source, for the rank's own experts.
struct LowLatencyRows {
    RowsOfExperts sent;
    RowsOfExperts received;
};

/// Appends what `counts` of a layer has for one rank to what that rank is sent at set-up.
void append_expert_rows(std::vector<std::uint64_t> const& counts, SetupCounts& setup);

/// Reads what ranks are sent at set-up, from the front.
class SetupReader {
public:
    explicit SetupReader(SetupCounts const& setup) : setup_(setup), left_(setup.counts) {}

    /// The next `count` ones. Throws Error where there are fewer.
    std::vector<std::uint64_t> take(std::uint64_t count);
    /// The counts that append_expert_rows() appended.
    std::vector<std::uint64_t> take_expert_rows() { return take(take(1).front()); }

private:
    SetupCounts const& setup_;
    std::span<std::uint64_t const> left_;
};
/// `own`, `received`: as for Pattern::build().
[[nodiscard]] LowLatencyRows low_latency_rows(std::span<SetupCounts const> own, std::span<SetupCounts const> received,
                                              std::uint32_t layer);

/// Steps "<phase>.put<suffix>" and "<phase>.wait<suffix>", which both wait for `after`.
struct PutAndWait {
    StepId put;
    StepId wait;
};
/// `me`: in the group. `suffix`: of the labels.
[[nodiscard]] PutAndWait add_dispatch(PlanBuilder& builder, Params const& params, GroupId group, std::size_t me,
                                      LowLatencyRows const& rows, std::string const& suffix,
                                      std::vector<StepId> const& after);
/// The same rows back.
[[nodiscard]] PutAndWait add_combine(PlanBuilder& builder, Params const& params, GroupId group, std::size_t me,
                                     LowLatencyRows const& rows, std::string const& suffix,
                                     std::vector<StepId> const& after);

}  // namespace dlmb::moe_alltoall
