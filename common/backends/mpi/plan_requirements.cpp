// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/backends/mpi/plan_requirements.hpp"

#include "common/bootstrap/over_ranks.hpp"
#include "common/plan/ready_queue.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>

namespace dlmb::mpi {
namespace {

bool fits_int(Exchange const& exchange, Limits const& limits) {
    auto const fits = [&](Block const& b) { return b.offset <= limits.call_bytes && b.bytes <= limits.call_bytes; };
    return std::all_of(exchange.send.begin(), exchange.send.end(), fits) &&
           std::all_of(exchange.recv.begin(), exchange.recv.end(), fits);
}

std::string refusal_of(Step const& step, Plan const& plan, ChosenMethod const& method, Limits const& limits) {
    if (std::holds_alternative<Compute>(step.operation)) {
        return "";
    }
    auto* const refusal = row_for(*method.calls, kind_of(step.operation)).refusal;
    std::string const reason = refusal == nullptr ? "" : refusal(step.operation, plan, limits);
    return reason.empty() ? "" : fmt::format("mpi: {} \"{}\": {}", name_of(step.operation), step.label, reason);
}

}  // namespace

PlanRequirements plan_requirements(Plan const& plan, ChosenMethod const& method, Limits const& limits) {
    PlanRequirements own{!is_chain(plan), false, false, ""};
    for (Step const& step : plan.steps) {
        if (auto const* exchange = std::get_if<Exchange>(&step.operation)) {
            own.large = own.large || !fits_int(*exchange, limits);
        }
        OperationKind const kind = kind_of(step.operation);
        own.reduces = own.reduces || kind == OperationKind::all_reduce || kind == OperationKind::reduce_scatter;
        if (own.refusal.empty()) {
            own.refusal = refusal_of(step, plan, method, limits);
        }
    }
    return own;
}

PlanRequirements agree(PlanRequirements const& own, Bootstrap& bootstrap) {
    std::array<std::int64_t, 3> votes{own.concurrent ? 1 : 0, own.reduces ? 1 : 0, own.large ? 1 : 0};
    bootstrap.all_reduce(votes, Fold::max);
    return {votes[0] != 0, votes[1] != 0, votes[2] != 0, first_refusal(bootstrap, own.refusal)};
}

}  // namespace dlmb::mpi
