// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// The parts of a plan, one after the other, each on its backend.
#pragma once

#include "common/backend_kit/backend.hpp"
#include "common/backends/tuned/parts.hpp"

namespace dlmb::tuned {

class Turn {
public:
    /// Collective where true: the backend that had the turn was quiesced. Allocates nothing.
    bool pass_to(Backend& next);
    /// Collective where a backend has the turn.
    void end();

private:
    Backend* active_ = nullptr;
};

struct CompiledPart {
    Part part;
    Backend* backend = nullptr;
    std::unique_ptr<CompiledPlan> plan;
    Nanoseconds end_ns = PhaseMark::at_finish;  // in the last iteration
};

class TunedPlan final : public CompiledPlan {
public:
    /// `parts`: one at least; together all `steps` steps in plan order. `steps_text`: for provenance().
    TunedPlan(std::vector<CompiledPart> parts, std::size_t steps, std::string steps_text, Turn& turn);

    void launch() override;
    [[nodiscard]] bool launch_blocks() const override;
    void finish() override;
    [[nodiscard]] bool launch_behind(DeviceGate& gate) override;
    [[nodiscard]] std::optional<Nanoseconds> device_ns() override;
    [[nodiscard]] Provenance provenance() const override;

private:
    void refine_marks() override;
    void take_turn(CompiledPart& part);
    void start(CompiledPart& part);
    void complete(CompiledPart& part);

    std::vector<CompiledPart> parts_;
    std::string steps_text_;
    Turn& turn_;
    std::uint32_t done_ = 0;  // steps of this iteration
    std::uint64_t iterations_ = 0;
    std::uint64_t switches_ = 0;
    Nanoseconds quiesce_ns_ = 0;
};

}  // namespace dlmb::tuned
