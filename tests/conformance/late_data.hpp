// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// A test double: a transport whose flags overtake their data. What peers put goes to memory of its own and comes to
// the plan's buffers when the iteration is over, so that a check behind the iteration finds nothing.
#pragma once

#include "common/backend_kit/backend.hpp"

#include <algorithm>
#include <cstring>
#include <memory>
#include <set>
#include <utility>
#include <vector>

namespace dlmb::conformance {

class LateData final : public CompiledPlan {
public:
    /// A buffer of the plan, and what it is in the inner plan.
    struct Late {
        std::byte* buffer = nullptr;
        std::vector<std::byte> memory;
    };

    LateData(std::unique_ptr<CompiledPlan> inner, std::vector<Late> late, std::size_t steps)
        : CompiledPlan(steps), inner_(std::move(inner)), late_(std::move(late)) {}

    /// Compiles `plan` on `backend`, by its default method.
    static std::unique_ptr<CompiledPlan> compile(Backend& backend, Plan const& plan, Buffers const& buffers) {
        std::vector<Late> late;
        Buffers inner = buffers;
        std::set<BufferId> known;
        for (Step const& step : plan.steps) {
            auto const* wait = std::get_if<WaitSignal>(&step.operation);
            if (wait != nullptr && known.insert(wait->buffer).second) {
                Late& each = late.emplace_back(Late{buffers.base[wait->buffer], {}});
                each.memory.resize(plan.buffers[wait->buffer].bytes);
                inner.base[wait->buffer] = each.memory.data();
            }
        }
        auto compiled = backend.compile(plan, inner, {"default", {}});
        return std::make_unique<LateData>(std::move(compiled).value(), std::move(late), plan.steps.size());
    }

    void launch() override {
        begin();
        for (Late& each : late_) {
            std::memcpy(each.memory.data(), each.buffer, each.memory.size());
        }
        inner_->watch_signals(signal_watch());
        inner_->launch();
    }
    void finish() override {
        inner_->finish();
        for (Late& each : late_) {
            std::memcpy(each.buffer, each.memory.data(), each.memory.size());
        }
        advance_to(inner_->steps_done());
    }

private:
    std::unique_ptr<CompiledPlan> inner_;
    std::vector<Late> late_;
};

}  // namespace dlmb::conformance
