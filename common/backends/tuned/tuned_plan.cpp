// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/backends/tuned/tuned_plan.hpp"

#include "common/base/clock.hpp"

#include <fmt/core.h>

namespace dlmb::tuned {

bool Turn::pass_to(Backend& next) {
    bool const quiesces = active_ != nullptr && active_ != &next;
    if (quiesces) {
        active_->quiesce();
    }
    active_ = &next;
    return quiesces;
}

void Turn::end() {
    if (active_ != nullptr) {
        active_->quiesce();
        active_ = nullptr;
    }
}

TunedPlan::TunedPlan(std::vector<CompiledPart> parts, std::size_t steps, std::string steps_text, Turn& turn)
    : CompiledPlan(steps), parts_(std::move(parts)), steps_text_(std::move(steps_text)), turn_(turn) {}

void TunedPlan::launch() {
    begin();
    done_ = 0;
    ++iterations_;
    for (CompiledPart& part : parts_) {
        start(part);
        if (&part != &parts_.back()) {
            complete(part);
        }
    }
}

bool TunedPlan::launch_blocks() const {
    return parts_.size() > 1 || parts_.front().plan->launch_blocks();
}

void TunedPlan::finish() {
    complete(parts_.back());
}

bool TunedPlan::launch_behind(DeviceGate& gate) {
    if (parts_.size() > 1) {
        return false;  // the host passes the turn
    }
    CompiledPart& only = parts_.front();
    begin();
    done_ = 0;
    take_turn(only);
    bool const launched = only.plan->launch_behind(gate);
    iterations_ += launched ? 1 : 0;
    return launched;
}

std::optional<Nanoseconds> TunedPlan::device_ns() {
    return parts_.size() > 1 ? std::nullopt : parts_.front().plan->device_ns();
}

void TunedPlan::take_turn(CompiledPart& part) {
    Nanoseconds const start_ns = now_ns();
    bool const passed = turn_.pass_to(*part.backend);
    bool const changed = part.plan->activate();  // quiesce() and other parts may have undone it
    if (passed || changed) {
        quiesce_ns_ += now_ns() - start_ns;
        ++switches_;
    }
}

void TunedPlan::start(CompiledPart& part) {
    take_turn(part);
    part.plan->launch();
}

void TunedPlan::complete(CompiledPart& part) {
    part.plan->finish();
    if (&part != &parts_.back()) {
        part.end_ns = now_ns();
    }
    done_ += static_cast<std::uint32_t>(part.part.steps.size());
    advance_to(done_);
}

void TunedPlan::refine_marks() {
    std::size_t place = 0;
    // The last part's end is that of the iteration: its end_ns stays PhaseMark::at_finish.
    for (CompiledPart& part : parts_) {
        for (PhaseMark const& mark : part.plan->marks()) {
            bool const at_end = mark.time_ns == PhaseMark::at_finish;
            set_mark(place++, {part.part.steps[mark.step], at_end ? part.end_ns : mark.time_ns});
        }
    }
}

Provenance TunedPlan::provenance() const {
    double const iterations = iterations_ == 0 ? 1 : static_cast<double>(iterations_);
    return {{"tuned_steps", steps_text_},
            {"tuned_parts", fmt::format("{}", parts_.size())},
            {"tuned_switches_per_iteration", fmt::format("{:.2f}", static_cast<double>(switches_) / iterations)},
            {"tuned_quiesce_ns_per_iteration", fmt::format("{:.0f}", static_cast<double>(quiesce_ns_) / iterations)}};
}

}  // namespace dlmb::tuned
