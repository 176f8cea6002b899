// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/backends/ucx/step_way.hpp"

#include <fmt/core.h>

#include <algorithm>

namespace dlmb::ucx {
namespace {

/// Copies and reductions are the host's, and so is scratch memory.
bool touches_memory(algorithms::MicroPlan const& plan) {
    return plan.scratch_bytes > 0 ||
           std::any_of(plan.steps.begin(), plan.steps.end(), [](algorithms::MicroStep const& step) {
               return step.action == algorithms::Action::copy || step.action == algorithms::Action::reduce;
           });
}

}  // namespace

Expected<std::vector<StepWay>, Unsupported> ways_of(Plan const& plan, Buffers const& buffers,
                                                    ChosenMethods const& methods) {
    bool const host = buffers.kind == MemoryKind::host || buffers.kind == MemoryKind::pinned;
    std::vector<StepWay> ways;
    ways.reserve(plan.steps.size());
    for (Step const& step : plan.steps) {
        StepWay& way = ways.emplace_back();
        OperationKind const kind = kind_of(step.operation);
        if (kind == OperationKind::compute) {
            continue;
        }
        Method const& method = methods.method_for(kind, host);
        if (method.algorithm_for == nullptr) {
            way.method = &method;
            continue;
        }
        way.collective = collective_of(plan, step.operation, buffers);
        if (!way.collective) {
            return Unsupported{fmt::format("step \"{}\": ucx {} takes exchanges of equal, packed blocks only",
                                           step.label, method.info.name)};
        }
        way.micro = method.algorithm_for(kind)(way.collective->shape, methods.knobs_of(method).algorithm);
        if (!host && touches_memory(*way.micro)) {
            return Unsupported{fmt::format("step \"{}\": ucx does {} by {} on host memory only", step.label,
                                           name_of(kind), method.info.name)};
        }
    }
    return ways;
}

}  // namespace dlmb::ucx
