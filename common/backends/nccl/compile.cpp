// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/backends/nccl/compile.hpp"

#include "common/backend_kit/device_compute.hpp"
#include "common/backends/nccl/enqueue.hpp"
#include "common/backends/nccl/pairing.hpp"
#include "common/backends/nccl/translate.hpp"
#include "common/bootstrap/over_ranks.hpp"
#include "common/plan/packed.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>

namespace dlmb::nccl {
namespace {

bool is_packed(Plan const& plan, Step const& step) {
    auto const* const exchange = std::get_if<Exchange>(&step.operation);
    if (exchange == nullptr) {
        return true;
    }
    std::size_t const members = plan.groups[exchange->group].members.size();
    return packed(exchange->send, members) && packed(exchange->recv, members);
}

bool is_library_collective(Step const& step) {
    OperationKind const kind = kind_of(step.operation);
    return kind == OperationKind::all_reduce || kind == OperationKind::reduce_scatter ||
           kind == OperationKind::all_gather || kind == OperationKind::broadcast;
}

/// Collective. ncclAlltoAll on one rank and grouped messages on another would not meet.
Method on_all_ranks(Method method, Plan const& plan, Bootstrap& bootstrap) {
    bool const uniform =
        std::all_of(plan.steps.begin(), plan.steps.end(), [&](Step const& step) { return is_packed(plan, step); });
    bool const more = std::any_of(plan.steps.begin(), plan.steps.end(), is_library_collective);
    std::array<std::int64_t, 2> ragged_and_more{uniform ? 0 : 1, more ? 1 : 0};
    bootstrap.all_reduce(ragged_and_more, Fold::max);
    bool const ragged = ragged_and_more[0] != 0;
    method.all_to_all = method.all_to_all && !(ragged && method.falls_back && ragged_and_more[1] != 0);
    return method;
}

bool has_exchange(Plan const& plan) {
    return std::any_of(plan.steps.begin(), plan.steps.end(),
                       [](Step const& step) { return std::holds_alternative<Exchange>(step.operation); });
}

std::string why_not(Plan const& plan, Method const& method, Expected<std::vector<Item>, Unsupported> const& items) {
    if (method.all_to_all && has_exchange(plan) && all_to_all_missing() != nullptr) {
        return all_to_all_missing();
    }
    return items ? why_no_products(plan) : items.error().reason;
}

/// Collective.
std::string why_no_algorithm(AlgorithmChoice const& choice, Plan const& plan, Shared const& shared) {
    if (!shared.tuner.why_not().empty()) {
        return fmt::format("nccl: algorithms cannot be chosen: {}", shared.tuner.why_not());
    }
    auto calls = static_cast<std::int64_t>(calls_of(choice, plan));
    shared.bootstrap.all_reduce({&calls, 1}, Fold::max);
    return calls > 0 ? "" : "not applicable: NCCL asks its tuner about collectives of several ranks with data only";
}

}  // namespace

Expected<std::unique_ptr<CompiledPlan>, Unsupported> compile(Plan const& plan, Buffers const& buffers,
                                                             Method const& asked, std::string const& why_no_fp8,
                                                             Shared const& shared) {
    if (asked.algorithm) {
        if (std::string reason = why_no_algorithm(*asked.algorithm, plan, shared); !reason.empty()) {
            return Unsupported{std::move(reason)};
        }
    }
    Method const method = on_all_ranks(asked, plan, shared.bootstrap);
    CommunicatorLookup const lookup{shared.communicators.world(),
                                    [&](Group const& group) { return shared.communicators.of(group); }};
    auto items = translate(plan, buffers, lookup, {method.all_to_all, why_no_fp8});
    if (std::string reason = first_refusal(shared.bootstrap, why_not(plan, method, items)); !reason.empty()) {
        return Unsupported{std::move(reason)};
    }
    ChannelOrder const arriving = channels_arriving(shared.bootstrap, channels_sent(items.value()));
    if (std::string reason = first_refusal(shared.bootstrap, take_as_sent(items.value(), arriving)); !reason.empty()) {
        return Unsupported{std::move(reason)};
    }
    Registration registration;
    if (method.registered) {
        auto const way = way_to_register(shared.bootstrap, plan, buffers.kind);
        if (!way) {
            return way.error();
        }
        registration = register_buffers(way.value(), plan, buffers, shared.bootstrap, shared.communicators);
    }
    auto queued = std::make_unique<QueuedPlan>(plan, std::move(items).value(), method, std::move(registration), shared);
    if (method.algorithm) {
        if (std::string reason = first_refusal(shared.bootstrap, queued->rehearse()); !reason.empty()) {
            return Unsupported{std::move(reason)};
        }
    }
    return std::unique_ptr<CompiledPlan>(std::move(queued));
}

}  // namespace dlmb::nccl
