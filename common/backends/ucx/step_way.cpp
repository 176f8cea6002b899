// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/backends/ucx/step_way.hpp"

#include "common/backends/ucx/memory_types.hpp"

#include <fmt/core.h>

#include <algorithm>

namespace dlmb::ucx {
namespace {

/// The device pays some microseconds per piece, for a kernel and a message, whatever its size: a few pieces per part
/// are enough that it reduces one while the next is on its way. A chain is better the more pieces it has.
constexpr Bytes pieces_on_device = 4;

algorithms::Knobs knobs_for(MemoryKind kind, algorithms::Shape const& shape, algorithms::Knobs chosen) {
    if (works_on_device(kind) && chosen.segment == 0 && shape.kind != OperationKind::broadcast) {
        chosen.segment =
            std::max(algorithms::default_segment, (shape.part() + pieces_on_device - 1) / pieces_on_device);
    }
    return chosen;
}

}  // namespace

Expected<std::vector<StepWay>, Unsupported> ways_of(Plan const& plan, Buffers const& buffers,
                                                    ChosenMethods const& methods, std::vector<bool> const& sharing,
                                                    Wires const& wires, WindowUse use) {
    std::vector<StepWay> ways;
    ways.reserve(plan.steps.size());
    for (Step const& step : plan.steps) {
        StepWay& way = ways.emplace_back();
        OperationKind const kind = kind_of(step.operation);
        if (kind == OperationKind::compute) {
            continue;
        }
        Method const& method = methods.method_for(kind);
        if (method.algorithm_for == nullptr) {
            way.method = &method;
            continue;
        }
        way.collective = collective_of(plan, step.operation, buffers);
        if (way.collective) {
            way.collective->shape.wire = wires.among(plan.groups.at(way.collective->group));
        }
        if (method.in_shared_memory != InSharedMemory::never) {
            bool const always = method.in_shared_memory == InSharedMemory::always;
            if (can_share(plan, step.operation, buffers.kind, sharing)) {
                way.shared = shared_way(plan, step.operation, buffers, way.collective,
                                        {always, methods.knobs_of(method).algorithm.segment, use});
            } else if (always) {
                return Unsupported{fmt::format("step \"{}\": ucx {} needs memory that all its ranks share: host memory "
                                               "of one node, and transports such as sysv and posix",
                                               step.label, method.info.name)};
            }
            if (kind == OperationKind::exchange) {
                way.method = &methods.lane_method();
                continue;
            }
            if (way.shared) {
                continue;
            }
        }
        if (!way.collective) {
            return Unsupported{fmt::format("step \"{}\": ucx {} takes exchanges of equal, packed blocks only",
                                           step.label, method.info.name)};
        }
        algorithms::Shape const& shape = way.collective->shape;
        way.micro =
            method.algorithm_for(kind)(shape, knobs_for(buffers.kind, shape, methods.knobs_of(method).algorithm));
    }
    return ways;
}

}  // namespace dlmb::ucx
