// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// What tests of the backend `tuned` share: two backends "first" and "second" that are in_process behind a protocol of
// what is called, and a chooser that is a function. Both are test doubles; the data they move is real.
#pragma once

#include "common/backend_kit/chooser.hpp"
#include "common/backend_kit/plan_payload.hpp"
#include "common/backend_kit/registry.hpp"
#include "common/formats/plan/builder.hpp"
#include "common/formats/table/query.hpp"
#include "tests/unit/in_process/in_process_world.hpp"

#include <gmock/gmock.h>

#include <functional>
#include <map>
#include <numeric>
#include <utility>

namespace dlmb::tuned::testing {

/// "launch first", "quiesce first": of one rank.
using Protocol = std::vector<std::string>;

/// Forwards to a plan of in_process and writes down its launches, the storage for which is there before.
class WatchedPlan final : public CompiledPlan {
public:
    WatchedPlan(std::unique_ptr<CompiledPlan> plan, std::string const& launched, Protocol& protocol,
                std::string context, std::string& active_context)
        : CompiledPlan(plan->marks().size()), plan_(std::move(plan)), launched_(launched), protocol_(protocol),
          context_(std::move(context)), active_context_(active_context) {}
    bool activate() override { return std::exchange(active_context_, context_) != context_; }
    void launch() override {
        begin();
        protocol_.push_back(launched_);
        plan_->launch();
    }
    void finish() override {
        plan_->finish();
        advance_to(plan_->steps_done());
    }

private:
    void refine_marks() override {
        std::size_t place = 0;
        for (PhaseMark const& mark : plan_->marks()) {
            set_mark(place++, mark);
        }
    }
    std::unique_ptr<CompiledPlan> plan_;
    std::string const& launched_;
    Protocol& protocol_;
    std::string context_;
    std::string& active_context_;
};

/// Knob `context` of every method: plans of another one than that of the last plan have something to activate.
class WatchedBackend final : public Backend {
public:
    WatchedBackend(std::string name, Bootstrap& bootstrap, Protocol& protocol)
        : name_(std::move(name)), launched_("launch " + name_), quiesced_("quiesce " + name_), protocol_(protocol),
          backend_(std::move(dlmb::make_backend("in_process", {bootstrap, YieldPolicy::always})).value()) {}

    [[nodiscard]] std::string_view name() const override { return name_; }
    [[nodiscard]] std::span<MethodInfo const> methods() const override { return backend_->methods(); }
    [[nodiscard]] bool supports(MemoryKind kind) const override { return backend_->supports(kind); }
    /// As two backends in managed memory. The rows are in host memory, and moved by the host.
    [[nodiscard]] std::optional<Processor> computes_in(MemoryKind /*kind*/) const override {
        return name_ == "first" ? Processor::host : Processor::device;
    }
    [[nodiscard]] Provenance provenance() const override { return {{"double", name_}}; }
    [[nodiscard]] Expected<std::unique_ptr<CompiledPlan>, Unsupported> compile(Plan const& plan, Buffers const& buffers,
                                                                               MethodChoice const& method) override {
        MethodChoice without = method;
        auto const context = without.knobs.extract("context");
        auto made = backend_->compile(plan, buffers, without);
        return std::unique_ptr<CompiledPlan>(
            std::make_unique<WatchedPlan>(std::move(made).value(), launched_, protocol_,
                                          context ? context.mapped() : std::string(), active_context_));
    }
    void quiesce() override {
        protocol_.push_back(quiesced_);
        backend_->quiesce();
    }

private:
    std::string name_;
    std::string launched_;
    std::string quiesced_;
    Protocol& protocol_;
    std::string active_context_;
    std::unique_ptr<Backend> backend_;
};

class WatchedSource final : public BackendSource {
public:
    WatchedSource(Bootstrap& bootstrap, Protocol& protocol) {
        for (char const* name : {"first", "second"}) {
            backends_.emplace(name, std::make_shared<WatchedBackend>(name, bootstrap, protocol));
        }
    }
    [[nodiscard]] Expected<std::shared_ptr<Backend>, Unsupported> backend(std::string_view name) override {
        auto const found = backends_.find(name);
        if (found == backends_.end()) {
            return Unsupported{"there is no such machine"};
        }
        return found->second;
    }

private:
    std::map<std::string, std::shared_ptr<Backend>, std::less<>> backends_;
};

class FunctionChooser final : public Chooser {
public:
    using Function = std::function<StepChoice(tuning::Key const&)>;
    explicit FunctionChooser(Function choose, std::string digest = "same")
        : choose_(std::move(choose)), digest_(std::move(digest)) {}
    [[nodiscard]] std::string const& digest() const override { return digest_; }
    [[nodiscard]] std::vector<std::string> backends() const override { return {"first", "nowhere", "second"}; }
    [[nodiscard]] StepChoice choose(tuning::Key const& step) const override { return choose_(step); }
    [[nodiscard]] StepChoice baseline(std::string_view /*memory*/) const override { return choose_({.bytes = 0}); }

private:
    Function choose_;
    std::string digest_;
};

/// Small operations on "first", those of 1 KiB and more on "second".
[[nodiscard]] inline StepChoice by_size(tuning::Key const& step) {
    return *step.bytes < 1024 ? StepChoice{"first", {}, "small"} : StepChoice{"second", {}, "large"};
}

/// One rank with a backend `tuned` over the doubles.
class TunedRank {
public:
    TunedRank(Bootstrap& bootstrap, FunctionChooser::Function choose)
        : bootstrap_(bootstrap), source_(bootstrap, protocol_), chooser_(std::move(choose)) {
        protocol_.reserve(4096);
        BackendContext context{bootstrap, YieldPolicy::always};
        Delegation const delegation{chooser_, source_};
        context.delegation = &delegation;
        backend_ = std::move(dlmb::make_backend("tuned", context)).value();
    }

    Expected<std::unique_ptr<CompiledPlan>, Unsupported> compile(Plan const& plan, MethodChoice const& method = {}) {
        for (Buffer const& buffer : plan.buffers) {
            allocations_.push_back(space_.allocate(std::max<Bytes>(buffer.bytes, 1)));
            buffers_.base.push_back(allocations_.back().data());
        }
        return backend_->compile(plan, buffers_, method);
    }
    [[nodiscard]] Bootstrap& bootstrap() { return bootstrap_; }
    [[nodiscard]] Rank rank() const { return bootstrap_.rank(); }
    [[nodiscard]] Backend& backend() { return *backend_; }
    [[nodiscard]] Buffers const& buffers() const { return buffers_; }
    [[nodiscard]] MemorySpace& space() { return space_; }
    [[nodiscard]] Protocol& protocol() { return protocol_; }

private:
    Bootstrap& bootstrap_;
    Protocol protocol_;
    WatchedSource source_;
    FunctionChooser chooser_;
    HostSpace space_;
    std::vector<Allocation> allocations_;
    Buffers buffers_;
    std::unique_ptr<Backend> backend_;
};

inline void run_tuned_ranks(int ranks, FunctionChooser::Function const& choose,
                            std::function<void(TunedRank&)> const& body) {
    in_process::run_ranks(ranks, [&](Bootstrap& bootstrap) {
        TunedRank rank(bootstrap, choose);
        body(rank);
    });
}

/// Runs the plan and checks every byte. What the compiled plan says of itself.
inline Provenance run_checked(TunedRank& rank, Plan const& plan, std::uint32_t iterations = 1) {
    auto const compiled = std::move(rank.compile(plan)).value();
    PlanPayload payload(rank.space(), rank.buffers(), plan);
    for (std::uint32_t iteration = 0; iteration < iterations; ++iteration) {
        payload.prepare(iteration);
        rank.bootstrap().barrier();
        compiled->launch();
        compiled->finish();
        EXPECT_THAT(payload.verify(iteration), ::testing::ElementsAre()) << iteration;
    }
    EXPECT_EQ(compiled->marks().size(), plan.steps.size());
    return compiled->provenance();
}

[[nodiscard]] inline Group everyone(int ranks) {
    Group group;
    group.members.resize(static_cast<std::size_t>(ranks));
    std::iota(group.members.begin(), group.members.end(), 0);
    return group;
}

}  // namespace dlmb::tuned::testing
