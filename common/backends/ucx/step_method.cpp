// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/backends/ucx/step_method.hpp"

#include <fmt/core.h>

#include <algorithm>

namespace dlmb::ucx {
namespace {

/// The device pays some microseconds per piece, for a kernel and a message, whatever its size: a few pieces per part
/// are enough that it reduces one while the next is on its way. A chain is better the more pieces it has.
algorithms::Knobs knobs_for(MemoryKind kind, algorithms::Shape const& shape, algorithms::Knobs chosen) {
    constexpr Bytes pieces_on_device = 4;
    bool const in_parts = shape.kind != OperationKind::broadcast && shape.kind != OperationKind::reduce;
    if (works_on_device(kind) && chosen.segment == 0 && in_parts) {
        chosen.segment =
            std::max(algorithms::default_segment, (shape.part() + pieces_on_device - 1) / pieces_on_device);
    }
    return chosen;
}

}  // namespace

Expected<std::vector<StepMethod>, Unsupported> step_methods(Plan const& plan, Buffers const& buffers,
                                                            ChosenMethods const& methods) {
    std::vector<StepMethod> made(plan.steps.size());
    for (StepId id = 0; id < plan.steps.size(); ++id) {
        Step const& step = plan.steps[id];
        OperationKind const kind = kind_of(step.operation);
        if (kind == OperationKind::compute) {
            continue;
        }
        Method const& method = methods.method_for(kind);
        if (!method.by_algorithm) {
            made[id].messages = &method;
            continue;
        }
        made[id].collective = algorithms::collective_of(plan, step.operation);
        if (!made[id].collective) {
            return Unsupported{fmt::format("step \"{}\": ucx {} takes exchanges of equal, packed blocks only",
                                           step.label, method.info.name)};
        }
        algorithms::Shape const& shape = made[id].collective->shape;
        algorithms::Algorithm const algorithm = algorithms::find(method.info.name, kind);
        made[id].micro = algorithm(shape, knobs_for(buffers.kind, shape, methods.knobs_of(method).algorithm));
    }
    return made;
}

}  // namespace dlmb::ucx
