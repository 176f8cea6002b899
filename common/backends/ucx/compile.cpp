// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/backends/ucx/compile.hpp"

#include "common/backends/ucx/agree.hpp"
#include "common/backends/ucx/matching.hpp"
#include "common/backends/ucx/tag.hpp"
#include "common/base/error.hpp"
#include "common/plan/waves.hpp"

#include <fmt/core.h>

#include <algorithm>

namespace dlmb::ucx {
namespace {

ucs_memory_type_t ucx_type_of(MemoryKind kind) {
    switch (kind) {
    case MemoryKind::cuda:
        return UCS_MEMORY_TYPE_CUDA;
    case MemoryKind::managed:
        return UCS_MEMORY_TYPE_CUDA_MANAGED;
    case MemoryKind::host:
    case MemoryKind::pinned:
        break;
    }
    return UCS_MEMORY_TYPE_HOST;
}

std::optional<std::string> why_not(Plan const& plan, Buffers const& buffers, std::optional<std::uint64_t> operations,
                                   Transport const& transport) {
    if (!transport.supports(buffers.kind)) {
        return fmt::format("this UCX was built without {} memory", name_of(buffers.kind));
    }
    if (!operations) {
        return fmt::format("{} steps do not fit the {} operation ids of a message tag beside the plans in use",
                           plan.steps.size(), tag_field_limit);
    }
    return why_not_lowered(plan);
}

std::vector<Rank> peers_of(std::vector<LoweredStep> const& steps) {
    std::vector<Rank> peers;
    for (LoweredStep const& step : steps) {
        for (std::vector<Message> const* const messages : {&step.sends, &step.receives}) {
            for (Message const& message : *messages) {
                peers.push_back(message.peer);
            }
        }
    }
    std::sort(peers.begin(), peers.end());
    peers.erase(std::unique(peers.begin(), peers.end()), peers.end());
    return peers;
}

LanePlan lane_plan(LoweredStep const& step, Plan const& plan, std::vector<ucp_tag_t> const& receive_tags,
                   ucp_tag_t tag_of_sends, Transport const& transport) {
    LanePlan lane;
    lane.step = step.step;
    lane.name = fmt::format("step {} \"{}\"", step.step, plan.steps[step.step].label);
    for (std::size_t i = 0; i < step.receives.size(); ++i) {
        Message const& from = step.receives[i];
        lane.receives.push_back({from.data, from.bytes, receive_tags[i], nullptr, from.peer, from.distance});
    }
    for (Message const& to : step.sends) {
        lane.sends.push_back({to.data, to.bytes, tag_of_sends, transport.endpoint(to.peer), to.peer, to.distance});
    }
    lane.copies = step.copies;
    lane.busy_ns = step.busy_ns;
    return lane;
}

}  // namespace

Expected<std::unique_ptr<CompiledPlan>, Unsupported> compile(Plan const& plan, Buffers const& buffers,
                                                             Method const& method,
                                                             std::optional<std::size_t> max_outstanding,
                                                             Transport& transport) {
    std::optional<std::uint64_t> const first = transport.operation_ids().take(plan.steps.size());
    auto operations = first ? std::make_unique<OperationRange>(transport.operation_ids(), *first) : nullptr;
    if (auto reason = agree(transport.bootstrap(), why_not(plan, buffers, first, transport))) {
        return Unsupported{std::move(*reason)};
    }
    bool const copy_self = ucx_type_of(buffers.kind) == UCS_MEMORY_TYPE_HOST;
    std::vector<LoweredStep> const steps = lower(plan, buffers, copy_self);
    MatchedTags const matched = match(transport.bootstrap(), plan, steps, *first);
    if (auto const problem = agree(transport.bootstrap(), matched.problem)) {
        throw Error(*problem);
    }
    transport.connect(peers_of(steps));

    std::vector<Schedule::Wave> lanes;
    for (std::vector<StepId> const& wave : waves(plan)) {
        Schedule::Wave& lanes_of_wave = lanes.emplace_back();
        for (StepId const id : wave) {
            LanePlan lane = lane_plan(steps[id], plan, matched.receives[id], send_tag(*first, id, plan.me), transport);
            method.arrange(lane, max_outstanding);
            lanes_of_wave.push_back(std::make_unique<Lane>(std::move(lane), transport, ucx_type_of(buffers.kind)));
        }
    }
    return std::unique_ptr<CompiledPlan>(
        std::make_unique<Schedule>(std::move(lanes), plan.steps.size(), std::move(operations), transport));
}

}  // namespace dlmb::ucx
