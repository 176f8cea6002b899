// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Each step on the backend and by the method that a chooser picks for it: what a runtime that obeys a tuning table
// does, its changes from one library to another included.
#include "common/backend_kit/compute.hpp"
#include "common/backend_kit/registry.hpp"
#include "common/backends/tuned/parts.hpp"
#include "common/backends/tuned/step_keys.hpp"
#include "common/base/clock.hpp"
#include "common/base/error.hpp"
#include "common/bootstrap/over_ranks.hpp"
#include "common/formats/plan/lay_out.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <map>

namespace dlmb::tuned {
namespace {

constexpr std::string_view own_name = "tuned";
constexpr std::array<MethodInfo, 1> method_table{
    {{"table", "each operation on the backend and by the method that the tuning table picks", every_operation}}};

using Source = Expected<std::shared_ptr<Backend>, Unsupported>;

/// Collective. All ranks must choose by the same table: throws UsageError on all, naming who has which, unless all
/// bring the same digest.
void require_one_digest(std::string const& digest, Bootstrap& bootstrap) {
    constexpr std::size_t most_named = 8;
    std::map<std::string, std::vector<Rank>> ranks_with;
    Rank rank = 0;
    for (std::vector<char> const& told : gather<char>(bootstrap, digest)) {
        ranks_with[{told.begin(), told.end()}].push_back(rank++);
    }
    if (ranks_with.size() == 1) {
        return;
    }
    std::string text;
    for (auto const& [each, ranks] : ranks_with) {
        std::size_t const named = std::min(ranks.size(), most_named);
        text += fmt::format("; {} on rank{} {}{}", each, ranks.size() == 1 ? "" : "s",
                            fmt::join(ranks.begin(), ranks.begin() + static_cast<std::ptrdiff_t>(named), ", "),
                            named < ranks.size() ? fmt::format(" and {} more", ranks.size() - named) : "");
    }
    throw UsageError(fmt::format("--use-table: the ranks read different tables (SHA-256{}); give every node the same "
                                 "file",
                                 text));
}

class Turn {
public:
    /// Collective where true: the backend that had the turn was quiesced. Allocates nothing.
    bool pass_to(Backend& next) {
        bool const quiesces = active_ != nullptr && active_ != &next;
        if (quiesces) {
            active_->quiesce();
        }
        active_ = &next;
        return quiesces;
    }
    /// Collective where a backend has the turn.
    void end() {
        if (active_ != nullptr) {
            active_->quiesce();
            active_ = nullptr;
        }
    }

private:
    Backend* active_ = nullptr;
};

struct CompiledPart {
    Part part;
    Backend* backend = nullptr;
    std::unique_ptr<CompiledPlan> plan;
    Nanoseconds end_ns = PhaseMark::at_finish;  // in the last iteration
};

/// The parts of a plan, one after the other, each on its backend.
class TunedPlan final : public CompiledPlan {
public:
    /// `parts`: one at least; together all `steps` steps in plan order. `facts`: for provenance().
    TunedPlan(std::vector<CompiledPart> parts, std::size_t steps, Provenance facts, Turn& turn)
        : CompiledPlan(steps), parts_(std::move(parts)), facts_(std::move(facts)), turn_(turn) {}

    void launch() override {
        begin_parts();
        ++iterations_;
        for (CompiledPart& part : parts_) {
            take_turn(part);
            launched_.store(true, std::memory_order_relaxed);
            part.plan->launch();
            if (&part != &parts_.back()) {
                complete(part);
            }
        }
    }

    void keep_marks(bool keeps) override {
        CompiledPlan::keep_marks(keeps);
        for (CompiledPart const& part : parts_) {
            part.plan->keep_marks(keeps);
        }
    }
    [[nodiscard]] bool launch_blocks() const override {
        return parts_.size() > 1 || parts_.front().plan->launch_blocks();
    }

    void finish() override { complete(parts_.back()); }

    [[nodiscard]] bool launch_behind(DeviceGate& gate) override {
        if (parts_.size() > 1) {
            return false;  // the host passes the turn
        }
        CompiledPart& only = parts_.front();
        begin_parts();
        take_turn(only);
        launched_.store(true, std::memory_order_relaxed);
        bool const launched = only.plan->launch_behind(gate);
        iterations_ += launched ? 1 : 0;
        return launched;
    }

    [[nodiscard]] bool queues_iterations() const override {
        return parts_.size() == 1 && parts_.front().plan->queues_iterations();
    }

    [[nodiscard]] std::optional<Nanoseconds> device_ns() override {
        return parts_.size() > 1 ? std::nullopt : parts_.front().plan->device_ns();
    }

    [[nodiscard]] Provenance provenance() const override {
        double const iterations = iterations_ == 0 ? 1 : static_cast<double>(iterations_);
        Provenance facts = facts_;
        facts["tuned_parts"] = fmt::format("{}", parts_.size());
        facts["tuned_switches_per_iteration"] = fmt::format("{:.2f}", static_cast<double>(switches_) / iterations);
        facts["tuned_quiesce_ns_per_iteration"] = fmt::format("{:.0f}", static_cast<double>(quiesce_ns_) / iterations);
        return facts;
    }

    [[nodiscard]] std::optional<StepId> first_open_step() const noexcept override {
        std::size_t part = part_.load(std::memory_order_relaxed);
        if (part < parts_.size() && launched_.load(std::memory_order_relaxed)) {
            if (auto const open = parts_[part].plan->first_open_step()) {
                return parts_[part].part.steps[*open];
            }
            ++part;
        }
        // A rank that communicates with nobody waits in parts without a step of its own.
        bool const has_step = part < parts_.size() && !parts_[part].part.steps.empty();
        return has_step ? std::optional(parts_[part].part.steps.front()) : std::nullopt;
    }

private:
    void begin_parts() {
        begin();
        done_ = 0;
        launched_.store(false, std::memory_order_relaxed);
        part_.store(0, std::memory_order_relaxed);
    }

    void take_turn(CompiledPart& part) {
        Nanoseconds const start_ns = now_ns();
        bool const passed = turn_.pass_to(*part.backend);
        bool const changed = part.plan->activate();  // quiesce() and other parts may have undone it
        if (passed || changed) {
            quiesce_ns_ += now_ns() - start_ns;
            ++switches_;
        }
    }

    void complete(CompiledPart& part) {
        part.plan->finish();
        if (&part != &parts_.back()) {
            part.end_ns = now_ns();
        }
        done_ += static_cast<std::uint32_t>(part.part.steps.size());
        advance_to(done_);
        launched_.store(false, std::memory_order_relaxed);
        part_.fetch_add(1, std::memory_order_relaxed);
    }

    void refine_marks() override {
        std::size_t place = 0;
        // The last part's end is that of the iteration: its end_ns stays PhaseMark::at_finish.
        for (CompiledPart& part : parts_) {
            for (PhaseMark const& mark : part.plan->marks()) {
                bool const at_end = mark.time_ns == PhaseMark::at_finish;
                set_mark(place++, {part.part.steps[mark.step], at_end ? part.end_ns : mark.time_ns});
            }
        }
    }

    std::vector<CompiledPart> parts_;
    Provenance facts_;
    Turn& turn_;
    std::uint32_t done_ = 0;             // steps of this iteration
    std::atomic<std::size_t> part_{0};   // the one that runs or is about to; these two are read in a signal handler
    std::atomic<bool> launched_{false};  // that part
    std::uint64_t iterations_ = 0;
    std::uint64_t switches_ = 0;
    Nanoseconds quiesce_ns_ = 0;
};

class TunedBackend final : public Backend {
public:
    explicit TunedBackend(BackendContext const& context)
        : bootstrap_(context.bootstrap), chooser_(context.delegation->chooser),
          nodes_(from_every_rank(context.bootstrap, context.bootstrap.node_leader())) {
        for (std::string const& name : chooser_.backends()) {
            if (name == own_name) {
                throw UsageError("the tuning table chooses 'tuned', which only hands on; name a transport");
            }
            sources_.emplace(name, context.delegation->backends.backend(name));
        }
    }

    [[nodiscard]] std::string_view name() const override { return own_name; }
    [[nodiscard]] std::span<MethodInfo const> methods() const override { return method_table; }
    [[nodiscard]] bool supports(MemoryKind kind) const override {
        return std::any_of(sources_.begin(), sources_.end(),
                           [&](auto const& source) { return source.second && source.second.value()->supports(kind); });
    }
    [[nodiscard]] std::string why_no(MemoryKind /*kind*/) const override {
        return "no backend that its table names takes it here";
    }

    /// Where all backends agree that take such memory; else compile_part() asks the one that does the step.
    [[nodiscard]] std::optional<Processor> computes_in(MemoryKind kind) const override {
        std::optional<Processor> by;
        for (auto const& [name, source] : sources_) {
            if (source && source.value()->supports(kind)) {
                auto const each = source.value()->computes_in(kind);
                if (by && by != each) {
                    return std::nullopt;
                }
                by = each;
            }
        }
        return by;
    }

    [[nodiscard]] Provenance provenance() const override {
        Provenance facts{{"tuning_table_sha256", chooser_.digest()}, {"shared_gpu", "no"}};
        std::string usable;
        for (auto const& [name, source] : sources_) {
            if (!source) {
                continue;
            }
            usable += (usable.empty() ? "" : " ") + name;
            for (auto const& [fact, value] : source.value()->provenance()) {
                facts[fmt::format("{}.{}", name, fact)] = value;
                if (fact == "shared_gpu" && value == "yes") {
                    facts[fact] = value;
                }
            }
        }
        facts["tuned_backends"] = usable;
        return facts;
    }

    [[nodiscard]] MadePlan compile(Plan const& plan, Buffers const& buffers, MethodChoice const& method) override {
        (void)chosen_method(method_table, own_name, method);
        turn_.end();
        if (any_rank(bootstrap_, has_signals(plan))) {
            return Unsupported{"tuned: has no rules for puts and gets; name a backend that does them"};
        }
        std::string_view const memory = name_of(buffers.kind);
        std::vector<StepChoice> const choices = by_table(step_keys(plan, buffers.kind, nodes_, bootstrap_), memory);
        Provenance facts{{"tuned_steps", step_text(plan, choices)}};
        auto agreed = agreed_parts(plan, cut(plan, choices), chooser_.baseline(memory), bootstrap_);
        if (!agreed) {
            return agreed.error();
        }
        std::vector<CompiledPart> compiled;
        for (Part& part : agreed.value()) {
            auto made = compile_part(plan, buffers, part);
            if (!made) {
                return made.error();
            }
            compiled.push_back(std::move(made).value());
        }
        return MadePlan(std::make_unique<TunedPlan>(std::move(compiled), plan.steps.size(), std::move(facts), turn_));
    }

    void quiesce() override {
        turn_.end();
        bootstrap_.barrier();  // also where nothing was in flight: whoever calls this meets the others here
    }

private:
    [[nodiscard]] std::vector<StepChoice> by_table(std::vector<std::optional<tuning::Key>> const& keys,
                                                   std::string_view memory) const {
        std::vector<StepChoice> choices;
        for (std::optional<tuning::Key> const& key : keys) {
            choices.push_back(key ? chooser_.choose(*key) : chooser_.baseline(memory));
        }
        return choices;
    }

    [[nodiscard]] Expected<CompiledPart, Unsupported> compile_part(Plan const& plan, Buffers const& buffers,
                                                                   Part& part) {
        StepChoice const& choice = part.choice;
        std::string const what =
            fmt::format("tuned: {} ({})", name_of(choice), choice.rule.empty() ? "no rule matches" : choice.rule);
        if (!choice.why_not.empty()) {
            return Unsupported{fmt::format("{}: {}", what, choice.why_not)};
        }
        Source const& source = sources_.at(choice.backend);
        if (!source) {
            return Unsupported{fmt::format("{}: {}", what, source.error().reason)};
        }
        Backend& backend = *source.value();
        turn_.pass_to(backend);  // compile() may communicate
        try {
            Plan const own = part_of(plan, part.steps);
            std::string const why_not = first_refusal(bootstrap_, why_no_rearrangement(own, backend, buffers.kind));
            if (!why_not.empty()) {
                return Unsupported{fmt::format("{}: {}", what, why_not)};
            }
            auto made = backend.compile(own, buffers, choice.method);
            if (!made) {
                return Unsupported{fmt::format("{}: {}", what, made.error().reason)};
            }
            return CompiledPart{std::move(part), &backend, std::move(made).value()};
        } catch (UsageError const& error) {
            throw UsageError(fmt::format("{}: {}", what, error.what()));
        }
    }

    Bootstrap& bootstrap_;
    Chooser const& chooser_;
    NodeOfRank nodes_;
    std::map<std::string, Source, std::less<>> sources_;
    Turn turn_;
};

}  // namespace

MadeBackend make_backend(BackendContext const& context) {
    if (context.delegation == nullptr) {
        return Unsupported{"tuned runs by a tuning table: give one with --use-table FILE"};
    }
    require_one_digest(context.delegation->chooser.digest(), context.bootstrap);
    return std::unique_ptr<Backend>(std::make_unique<TunedBackend>(context));
}

}  // namespace dlmb::tuned
