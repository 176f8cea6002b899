// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/backend_kit/backend_pair.hpp"

#include "common/base/clock.hpp"
#include "common/bootstrap/over_ranks.hpp"
#include "common/formats/plan/lay_out.hpp"

#include <fmt/core.h>

#include <array>
#include <utility>

namespace dlmb {
namespace {

/// Tells the watch of the whole plan of the steps of one side.
struct SideWatch final : SignalWatch {
    void seen(StepId step, std::size_t signal) override { whole->seen((*steps)[step], signal); }

    SignalWatch* whole = nullptr;
    std::vector<StepId> const* steps = nullptr;
};

/// One of the two plans.
struct Side {
    std::vector<StepId> steps;  // of the whole plan, by those of its own
    std::unique_ptr<CompiledPlan> plan;
    bool complete = false;  // in this iteration
    Nanoseconds end_ns = 0;
    SideWatch watch = {};
};
using Sides = std::array<Side, 2>;

class PairPlan final : public CompiledPlan {
public:
    PairPlan(std::size_t steps, Sides sides, Provenance facts, Idle idle)
        : CompiledPlan(steps), sides_(std::move(sides)), facts_(std::move(facts)), idle_(idle) {}

    void launch() override {
        begin();
        for (Side& side : sides_) {
            side.complete = false;
            side.plan->launch();
        }
    }

    void finish() override {
        while (!sides_[0].complete || !sides_[1].complete) {
            std::uint32_t const before = steps_done();
            look();
            if (steps_done() == before) {
                idle_();
            }
        }
        for (Side& side : sides_) {
            side.plan->finish();
        }
    }

    void keep_marks(bool keeps) override {
        CompiledPlan::keep_marks(keeps);
        for (Side const& side : sides_) {
            side.plan->keep_marks(keeps);
        }
    }
    void watch_signals(SignalWatch* watch) override {
        for (Side& side : sides_) {
            side.watch.whole = watch;
            side.watch.steps = &side.steps;
            side.plan->watch_signals(watch == nullptr ? nullptr : &side.watch);
        }
    }
    bool activate() override {
        bool const first = sides_[0].plan->activate();
        bool const second = sides_[1].plan->activate();
        return first || second;
    }
    [[nodiscard]] Provenance provenance() const override { return facts_; }

    [[nodiscard]] std::optional<StepId> first_open_step() const noexcept override {
        std::optional<StepId> first;
        for (Side const& side : sides_) {
            if (auto const open = side.plan->first_open_step(); open && (!first || side.steps[*open] < *first)) {
                first = side.steps[*open];
            }
        }
        return first;
    }

private:
    /// Also at a side that is complete here: a peer may need what this rank's library has still to send.
    void look() {
        std::uint32_t done = 0;
        for (Side& side : sides_) {
            if (side.plan->poll() && !side.complete) {
                side.complete = true;
                side.end_ns = now_ns();
            }
            done += side.plan->steps_done();
        }
        advance_to(done);
    }

    /// In the order of completion; the last one of the iteration stays PhaseMark::at_finish.
    void refine_marks() override {
        std::array<std::span<PhaseMark const>, 2> left{sides_[0].plan->marks(), sides_[1].plan->marks()};
        auto const end_of = [&](std::size_t side) {
            Nanoseconds const time_ns = left[side].front().time_ns;
            return time_ns == PhaseMark::at_finish ? sides_[side].end_ns : time_ns;
        };
        for (std::size_t place = 0; !left[0].empty() || !left[1].empty(); ++place) {
            bool const second = left[0].empty() || (!left[1].empty() && end_of(1) < end_of(0));
            std::size_t const side = second ? 1 : 0;
            bool const last = left[0].size() + left[1].size() == 1;
            set_mark(place, {sides_[side].steps[left[side].front().step],
                             last ? Nanoseconds{PhaseMark::at_finish} : end_of(side)});
            left[side] = left[side].subspan(1);
        }
    }

    Sides sides_;
    Provenance facts_;
    Idle idle_;
};

/// Why the steps of `phase` do not run beside the others; empty: they do.
std::string why_not_apart(Plan const& plan, std::string_view phase) {
    for (Step const& step : plan.steps) {
        for (StepId const earlier : step.after) {
            if ((phase_of(step.label) == phase) != (phase_of(plan.steps[earlier].label) == phase)) {
                return fmt::format("step \"{}\" waits for \"{}\": they cannot run on two backends at the same time",
                                   step.label, plan.steps[earlier].label);
            }
        }
    }
    return "";
}

/// On a device operations are complete in the order of a stream, which belongs to one backend.
bool driven_by_the_host(MemoryKind kind) {
    return !on_device(kind) && kind != MemoryKind::managed;
}

class BackendPair final : public Backend {
public:
    BackendPair(Bootstrap& bootstrap, std::array<std::shared_ptr<Backend>, 2> backends, MethodChoice second_method,
                std::string phase, Idle idle)
        : bootstrap_(bootstrap), backends_(std::move(backends)), second_method_(std::move(second_method)),
          phase_(std::move(phase)), idle_(idle),
          name_(pair_name(backends_[0]->name(), backends_[1]->name(), second_method_)) {
        for (MethodInfo const& method : backends_[0]->methods()) {
            methods_.push_back(method);
            methods_.back().stable = {};  // it says nothing of the other backend's sums
        }
    }

    [[nodiscard]] std::string_view name() const override { return name_; }
    [[nodiscard]] std::span<MethodInfo const> methods() const override { return methods_; }
    [[nodiscard]] std::span<MethodInfo const> methods_on(MemoryKind kind) const override {
        return backends_[0]->methods_on(kind);
    }
    [[nodiscard]] std::vector<MethodChoice> variants(MemoryKind kind,
                                                     std::span<OperationUse const> uses) const override {
        return backends_[0]->variants(kind, uses);
    }
    [[nodiscard]] bool supports(MemoryKind kind) const override {
        return driven_by_the_host(kind) && backends_[0]->supports(kind) && backends_[1]->supports(kind);
    }
    [[nodiscard]] std::string why_no(MemoryKind kind) const override {
        if (!driven_by_the_host(kind)) {
            return "two backends at the same time are driven by the host, on host memory";
        }
        Backend const& lacking = *backends_[backends_[0]->supports(kind) ? 1 : 0];
        return fmt::format("{} cannot{}{}", lacking.name(), lacking.why_no(kind).empty() ? "" : ": ",
                           lacking.why_no(kind));
    }
    [[nodiscard]] Provenance provenance() const override {
        Provenance facts;
        for (std::shared_ptr<Backend> const& backend : backends_) {
            for (auto const& [fact, value] : backend->provenance()) {
                facts[fmt::format("{}.{}", backend->name(), fact)] = value;
            }
        }
        return facts;
    }

    [[nodiscard]] MadePlan compile(Plan const& plan, Buffers const& buffers, MethodChoice const& method) override {
        if (std::string reason = first_refusal(bootstrap_, why_not_apart(plan, phase_)); !reason.empty()) {
            return Unsupported{fmt::format("{}: {}", name_, reason)};
        }
        Sides sides;
        for (StepId step = 0; step < plan.steps.size(); ++step) {
            sides[phase_of(plan.steps[step].label) == phase_ ? 1 : 0].steps.push_back(step);
        }
        Provenance facts;
        for (std::size_t side = 0; side < sides.size(); ++side) {
            Backend& backend = *backends_[side];
            auto made =
                backend.compile_polled(part_of(plan, sides[side].steps), buffers, side == 0 ? method : second_method_);
            backend.quiesce();  // before the other library communicates
            if (!made) {
                return Unsupported{fmt::format("{}: {}", name_, made.error().reason)};
            }
            sides[side].plan = std::move(made).value();
            for (auto const& [fact, value] : sides[side].plan->provenance()) {
                facts[fmt::format("{}.{}", backend.name(), fact)] = value;
            }
        }
        return MadePlan(std::make_unique<PairPlan>(plan.steps.size(), std::move(sides), std::move(facts), idle_));
    }

    void quiesce() override {
        for (std::shared_ptr<Backend> const& backend : backends_) {
            backend->quiesce();
        }
    }

private:
    Bootstrap& bootstrap_;
    std::array<std::shared_ptr<Backend>, 2> backends_;
    MethodChoice second_method_;
    std::string phase_;
    Idle idle_;
    std::string name_;
    std::vector<MethodInfo> methods_;
};

}  // namespace

std::string pair_name(std::string_view first, std::string_view second, MethodChoice const& second_method) {
    std::string const method = second_method == MethodChoice{} ? "" : "/" + to_string(second_method);
    return fmt::format("{}+{}{}", first, second, method);
}

std::shared_ptr<Backend> make_backend_pair(Bootstrap& bootstrap, std::shared_ptr<Backend> first,
                                           std::shared_ptr<Backend> second, MethodChoice second_method,
                                           std::string phase, Idle idle) {
    return std::make_shared<BackendPair>(bootstrap, std::array{std::move(first), std::move(second)},
                                         std::move(second_method), std::move(phase), idle);
}

}  // namespace dlmb
