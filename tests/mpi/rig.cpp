// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "tests/mpi/rig.hpp"

#include "common/backend_kit/plan_payload.hpp"
#include "common/base/error.hpp"
#include "common/bootstrap/mpi/mpi_bootstrap.hpp"
#include "common/formats/plan/world.hpp"

#include <set>

namespace dlmb::mpi {

Rig::Rig(CallLimits const& limits, std::string const& device, MemoryKind kind) : bootstrap_(make_mpi_bootstrap()) {
    std::string why_not;
    memory_ = make_memory_space(kind, why_not);
    if (memory_ == nullptr) {
        throw Error(why_not);
    }
    // A test double's device needs the cores that ranks would wait on.
    YieldPolicy const yield = kind == MemoryKind::host ? YieldPolicy::automatic : YieldPolicy::always;
    backend_ = make_limited_backend(
                   {.bootstrap = *bootstrap_, .yield = yield, .options = {{"mpi", {{"device", device}}}}}, limits)
                   .value();
}

Group Rig::world() const {
    return consecutive_group({ranks(), ranks()}, 0, ranks());
}

Buffers Rig::bind(Plan const& plan) {
    Buffers buffers{memory_->kind(), {}};
    for (Buffer const& buffer : plan.buffers) {
        buffers.base.push_back(allocations_.emplace_back(memory_->allocate(buffer.bytes)).data());
    }
    return buffers;
}

std::vector<std::string> Rig::run(Plan const& plan, std::string_view method, std::uint32_t iterations) {
    Buffers const buffers = bind(plan);
    MadePlan compiled = backend_->compile(plan, buffers, parse_method(method));
    if (!compiled) {
        return {compiled.error().reason};
    }
    PlanPayload payload(*memory_, buffers, plan);
    std::vector<std::string> problems;
    for (std::uint32_t iteration = 0; iteration < iterations; ++iteration) {
        payload.prepare(iteration);
        compiled.value()->activate();
        compiled.value()->launch();
        compiled.value()->finish();
        for (std::string& problem : payload.verify(iteration)) {
            problems.push_back(std::string(method) + ": " + problem);
        }
        std::set<StepId> marked;
        for (PhaseMark const& mark : compiled.value()->marks()) {
            marked.insert(mark.step);
        }
        if (marked.size() != plan.steps.size() || compiled.value()->steps_done() != plan.steps.size()) {
            problems.emplace_back("not every step has its mark");
        }
        backend_->quiesce();
    }
    return problems;
}

}  // namespace dlmb::mpi
