// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// A plan's steps as what tag matching can do: messages to and from world ranks and local work, with addresses. Before
// anything is posted, every send meets a receive of the same size, and the receiver learns the sender's tags.
// First it is decided how each step is done: by messages in the order of a method, or by an algorithm.
#pragma once

#include "common/backends/ucx/local_work.hpp"
#include "common/backends/ucx/methods.hpp"
#include "common/formats/plan/algorithms/catalogue.hpp"

#include <optional>
#include <string>
#include <vector>

namespace dlmb::ucx {

struct StepMethod {
    Method const* messages = nullptr;  // orders the step's messages; nullptr: an algorithm's step or a Compute step
    std::optional<algorithms::ShapedStep> collective;  // of an algorithm's step
    algorithms::MicroPlan micro;                       // of an algorithm's step
};

/// By StepId. A step that its method cannot do makes the whole plan Unsupported.
[[nodiscard]] Expected<std::vector<StepMethod>, Unsupported> step_methods(Plan const& plan, Buffers const& buffers,
                                                                          ChosenMethods const& methods);

/// A micro-step: which of the step's messages or local work it is, and the earlier ones that are complete before it.
struct LoweredMicro {
    algorithms::Action action = algorithms::Action::copy;
    std::uint32_t index = 0;
    std::vector<std::uint32_t> after;
};

/// One step. Steps of two ranks belong together when kind and key are equal, in plan order; so do the messages of one
/// pair inside a step.
struct LoweredStep {
    StepId step = 0;
    std::uint64_t kind = 0;  // index of the operation; a receive carries that of its send
    std::uint64_t key = 0;   // group members and what is reduced, or the channel of a send and receive
    std::vector<Transfer> receives;
    std::vector<Transfer> sends;
    std::vector<LocalWork> work;
    std::vector<LoweredMicro> micro;  // order of all the above, if the step is done by an algorithm
    std::string problem;              // what is wrong with this rank's step on its own; empty when nothing is
};

/// Blocks to oneself are copies. `scratch`: by StepId, memory of an algorithm's own. Sends have the tags of operations
/// from `first_operation` on; receives have none, and no message an endpoint.
[[nodiscard]] std::vector<LoweredStep> lower(Plan const& plan, Buffers const& buffers,
                                             std::vector<StepMethod> const& methods,
                                             std::vector<std::byte*> const& scratch, std::uint64_t first_operation);

/// Tag of the sends of rank `me` in `step` when its operations start at `first_operation`.
[[nodiscard]] ucp_tag_t send_tag(std::uint64_t first_operation, StepId step, Rank me);

/// Collective. Gives the receives the tags of their sends. What this rank found wrong, not yet agreed on; empty:
/// nothing.
[[nodiscard]] std::string match(Bootstrap& bootstrap, Plan const& plan, std::vector<LoweredStep>& steps);

}  // namespace dlmb::ucx
