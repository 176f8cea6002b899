// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// The two interfaces that every transport implements. compile() does everything slow; launch() and finish() are all
// that is timed: two virtual calls per iteration, none per step, nothing allocated or looked up.
#pragma once

#include "common/base/error.hpp"
#include "common/base/names/names.hpp"
#include "common/base/tick_scale.hpp"
#include "common/bootstrap/bootstrap.hpp"
#include "common/formats/plan/plan.hpp"
#include "common/memory/device_gate.hpp"
#include "common/memory/memory_space.hpp"

#include <atomic>
#include <initializer_list>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace dlmb {

/// Base addresses of a plan's buffers, by BufferId. Plans of several draws share one set sized for the largest. In
/// memory `nccl` all ranks have as many, and those of one number are allocated alike: in the size of the largest.
struct Buffers {
    MemoryKind kind = MemoryKind::host;
    std::vector<std::byte*> base;
};

/// A set of operation kinds.
class OperationSet {
public:
    constexpr OperationSet(std::initializer_list<OperationKind> kinds) {
        for (OperationKind const kind : kinds) {
            bits_ |= bit(kind);
        }
    }
    [[nodiscard]] constexpr bool has(OperationKind kind) const { return (bits_ & bit(kind)) != 0; }
    [[nodiscard]] constexpr OperationSet with(OperationSet others) const {
        others.bits_ |= bits_;
        return others;
    }

private:
    static constexpr std::uint32_t bit(OperationKind kind) { return 1U << static_cast<std::uint32_t>(kind); }
    std::uint32_t bits_ = 0;
};

/// One-sided writes and reads with their signals: what a peer does at any time, and what no algorithm takes apart.
inline constexpr OperationSet write_operations{OperationKind::put, OperationKind::wait_signal};
inline constexpr OperationSet read_operations{OperationKind::offer, OperationKind::get};
/// All others.
inline constexpr OperationSet every_operation{
    OperationKind::exchange, OperationKind::send,           OperationKind::recv,       OperationKind::all_reduce,
    OperationKind::reduce,   OperationKind::reduce_scatter, OperationKind::all_gather, OperationKind::gather,
    OperationKind::scatter,  OperationKind::broadcast,      OperationKind::barrier,
};

/// The operations whose sums of floating-point numbers a method promises to have the same bits, because it adds the
/// operands of an element in an order that these do not change. Who arrives when is another matter in each run, so what
/// is stable over arrivals is so over runs. Not promised: a library decides, or nobody.
struct BitwiseStability {
    OperationSet over_arrival{};      // with the same ranks and sizes, whoever comes first
    OperationSet over_rank_counts{};  // and however many ranks the same operands are spread over
};

/// A method changes how `operations` are done; the other operations of a plan are done as by default.
struct MethodInfo {
    std::string_view name;
    std::string_view description;  // one line: the native calls it makes
    OperationSet operations;
    std::string_view knobs = "";  // "max_outstanding=N"
    bool uniform_only = false;    // takes exchanges of equal, packed blocks only
    BitwiseStability stable{};
    bool scattered = false;  // takes exchanges whose rows lie apart
};

/// The promise of `method` for all reductions among `kinds`: "runs arrival", with " rank_count"; "not stated" where one
/// of them is left out, and empty where none reduces. Operations that it does not change are as by default.
[[nodiscard]] std::string stability_of(std::span<MethodInfo const> methods, std::string_view method,
                                       std::span<OperationKind const> kinds);

/// When a step was complete on this rank, on now_ns()'s clock. The last step of an iteration is complete when finish()
/// returns, and whoever called finish() knows that time: it is not read twice.
struct PhaseMark {
    static constexpr Nanoseconds at_finish = 0;
    StepId step = 0;
    Nanoseconds time_ns = at_finish;
};

/// Facts for the record: {"transports", "sysv cma"}.
using Provenance = std::map<std::string, std::string, std::less<>>;

/// Asked for each signal as soon as a WaitSignal has seen it, on the rank that waits: whoever checks a payload looks at
/// the blocks before the signal then, and finds those that are late.
class SignalWatch {
public:
    virtual ~SignalWatch() = default;
    /// `signal`: its number in the step.
    virtual void seen(StepId step, std::size_t signal) = 0;
};

/// A plan bound to buffers. Destroyed before its backend.
class CompiledPlan {
public:
    virtual ~CompiledPlan() = default;
    /// Starts one iteration; may already complete it (blocking calls).
    virtual void launch() = 0;
    /// Whether launch() may wait for other ranks: when it returned then tells nothing of this one.
    [[nodiscard]] virtual bool launch_blocks() const { return false; }
    /// Returns when this rank's data of the iteration is complete and usable, sent and received.
    virtual void finish() = 0;

    /// For plans by compile_polled(): looks once at what is in flight, and waits for nobody. True: finish() has nothing
    /// to wait for. Called again after that, it still serves the library.
    [[nodiscard]] virtual bool poll() { return true; }

    /// As launch(), on a device that starts only when `gate` is opened. False: this plan needs the host while it runs,
    /// and nothing was done.
    [[nodiscard]] virtual bool launch_behind(DeviceGate& /*gate*/) { return false; }
    /// Time of the last finished iteration on the device's clock; nullopt where the host drives it, and without marks.
    /// Outside the timed region.
    [[nodiscard]] virtual std::optional<Nanoseconds> device_ns() { return std::nullopt; }

    /// Before launch() where another plan of the backend may have run since: settings of the library that this plan
    /// needs and others do not. All ranks do so at the same point. Outside the timed region, but for plans of several
    /// parts (backends/tuned). False: nothing had to be done.
    virtual bool activate() { return false; }
    /// Whether launch() may be called again before finish(), which then waits for all that was launched: a device runs
    /// them in turn.
    [[nodiscard]] virtual bool queues_iterations() const { return false; }
    /// Facts of this plan, beside those of its backend.
    [[nodiscard]] virtual Provenance provenance() const { return {}; }

    /// For the next iterations, outside of timing; nullptr: nobody watches, and a step spends a comparison on it. No
    /// plan without signals has any to show, nor one whose signals a device sees.
    virtual void watch_signals(SignalWatch* watch) { signal_watch_ = watch; }

    /// Whether somebody will ask for the marks of the next iterations, which is so until told otherwise: each reads the
    /// counter, or has the device record an event, in the timed region. The host counts its steps either way.
    virtual void keep_marks(bool keeps) { keeps_marks_ = keeps; }
    /// One mark per step of the last finished iteration, in order of completion. The storage never moves.
    [[nodiscard]] std::span<PhaseMark const> marks() {
        refine_marks();
        convert_ticks();
        return marks_;
    }
    /// Steps completed in the current iteration.
    [[nodiscard]] std::uint32_t steps_done() const { return steps_done_.load(std::memory_order_relaxed); }
    /// The first step, in plan order, that is not complete in the current iteration: steps complete in any order, so
    /// their count does not say which. Async-signal-safe: the watchdog asks while the iteration stands still.
    [[nodiscard]] virtual std::optional<StepId> first_open_step() const noexcept;

protected:
    explicit CompiledPlan(std::size_t steps) : marks_(steps) {}
    /// Where the watch of the next iterations will stand.
    [[nodiscard]] SignalWatch* const& signal_watch() const { return signal_watch_; }
    [[nodiscard]] bool keeps_marks() const { return keeps_marks_; }
    void begin() {
        steps_done_.store(0, std::memory_order_relaxed);
        in_ticks_ = true;
    }
    void mark(StepId step) { mark(step, steps_done()); }
    /// For those who know how many steps were complete before.
    void mark(StepId step, std::uint32_t done) {
        if (keeps_marks_) {
            marks_[done].time_ns = static_cast<Nanoseconds>(read_ticks());
        }
        note_done(step, done);
    }
    /// The end of the last step is that of the iteration, which whoever called finish() reads.
    void mark_last(StepId step) {
        marks_.back().step = step;
        advance_to(static_cast<std::uint32_t>(marks_.size()));
    }

    // For plans that a device runs by itself: the host learns of the ends of steps late, or only afterwards.
    void note_done(StepId step) { note_done(step, steps_done()); }
    /// Without saying which; for all of them, and where first_open_step() is overridden.
    void advance_to(std::uint32_t steps_done) { steps_done_.store(steps_done, std::memory_order_release); }
    void set_mark(std::size_t place, PhaseMark mark) {
        marks_[place] = mark;
        in_ticks_ = false;
    }

private:
    void note_done(StepId step, std::uint32_t done) {
        marks_[done].step = step;
        advance_to(done + 1);  // releases the step's number
    }
    /// Writes the marks of the last finished iteration where finish() left that for later. Outside the timed region.
    virtual void refine_marks() {}

    void convert_ticks() {
        if (!in_ticks_ || marks_.empty()) {
            return;
        }
        TickScale const scale;
        for (PhaseMark& each : marks_) {
            each.time_ns = scale.time_of(static_cast<Ticks>(each.time_ns));
        }
        marks_.back().time_ns = PhaseMark::at_finish;
        in_ticks_ = false;
    }

    std::vector<PhaseMark> marks_;
    SignalWatch* signal_watch_ = nullptr;
    bool keeps_marks_ = true;
    bool in_ticks_ = false;  // mark() leaves the counter's reading where the time will be
    std::atomic<std::uint32_t> steps_done_{0};
};

using MadePlan = Expected<std::unique_ptr<CompiledPlan>, Unsupported>;

/// The methods that change any of `uses` and may be able to do it.
[[nodiscard]] std::vector<MethodInfo> methods_for(std::span<MethodInfo const> methods,
                                                  std::span<OperationUse const> uses);
/// The method that "default" stands for in a plan with `use`; nullptr: there is none.
[[nodiscard]] MethodInfo const* default_method(std::span<MethodInfo const> methods, OperationUse const& use);

/// The place of `name` in `methods`. Throws UsageError naming the nearest known methods.
[[nodiscard]] std::size_t find_method(std::span<MethodInfo const> methods, std::string_view backend,
                                      std::string_view name);
/// The row of `choice`, the first one for "default". Throws UsageError also for a knob where the row names none.
[[nodiscard]] MethodInfo const& chosen_method(std::span<MethodInfo const> methods, std::string_view backend,
                                              MethodChoice const& choice);
/// UsageError for a knob that `method` of the backend has not.
[[noreturn]] void throw_unknown_knob(std::string_view backend, MethodInfo const& method, MethodChoice const& choice,
                                     std::string_view knob);

/// One transport on one rank. Methods marked collective are called by all ranks in the same order.
class Backend {
public:
    virtual ~Backend() = default;
    [[nodiscard]] virtual std::string_view name() const = 0;
    /// All that it knows by name.
    [[nodiscard]] virtual std::span<MethodInfo const> methods() const = 0;
    /// The methods for memory of this kind. The first that has an operation is the default for it.
    [[nodiscard]] virtual std::span<MethodInfo const> methods_on(MemoryKind /*kind*/) const { return methods(); }
    /// The methods that "default" measures for such traffic: one, or several where programs differ in which one they
    /// call. The first is the backend's default.
    [[nodiscard]] virtual std::vector<MethodInfo> defaults(MemoryKind kind, OperationUse const& use) const {
        MethodInfo const* const one = default_method(methods_on(kind), use);
        return one == nullptr ? std::vector<MethodInfo>{} : std::vector{*one};
    }
    /// The methods with knobs that "all" measures for such traffic beside the plain methods.
    [[nodiscard]] virtual std::vector<MethodChoice> variants(MemoryKind /*kind*/,
                                                             std::span<OperationUse const> /*uses*/) const {
        return {};
    }
    [[nodiscard]] virtual bool supports(MemoryKind kind) const = 0;
    /// Why it does not, and what helps; empty where there is no more to say.
    [[nodiscard]] virtual std::string why_no(MemoryKind /*kind*/) const { return {}; }
    /// The processor that does the Compute steps of plans in such memory; nullopt: compile() decides step by step.
    [[nodiscard]] virtual std::optional<Processor> computes_in(MemoryKind kind) const {
        return on_device(kind) ? Processor::device : Processor::host;
    }
    [[nodiscard]] virtual Provenance provenance() const = 0;

    /// Collective. Unsupported is decided alike on all ranks. Throws UsageError for an unknown method or knob.
    [[nodiscard]] virtual MadePlan compile(Plan const& plan, Buffers const& buffers, MethodChoice const& method) = 0;
    /// As compile(), for a plan that runs at the same time as one of another backend (backend_pair.hpp): no call waits
    /// for other ranks, and poll() drives it.
    [[nodiscard]] virtual MadePlan compile_polled(Plan const& plan, Buffers const& buffers, MethodChoice const& method);
    /// Collective. Afterwards nothing of this backend is in flight and another library may communicate.
    virtual void quiesce() = 0;
    /// Collective, with no iteration in flight: the barrier that a program written for this library would call.
    virtual void barrier(Bootstrap& bootstrap) { bootstrap.barrier(); }
};

/// The user's options for single backends, by backend and option: {"mpi", {{"device", "yes"}}}. A backend reads its own
/// options and checks what they say; nobody else needs to know them.
using BackendOptions = std::map<std::string, std::map<std::string, std::string, std::less<>>, std::less<>>;

struct Delegation;

/// The arguments of make_backend(). All that it refers to outlives the backend.
struct BackendContext {
    Bootstrap& bootstrap;
    YieldPolicy yield = YieldPolicy::automatic;
    /// A backend that can give up an iteration by itself does so after this time; 0: it waits for ever.
    Nanoseconds timeout_ns = 0;
    BackendOptions options = {};
    /// For a backend that hands its steps to others (chooser.hpp); nullptr: nobody chooses.
    Delegation const* delegation = nullptr;

    /// Empty: it was not given.
    [[nodiscard]] std::string_view option(std::string_view backend, std::string_view name) const;
};

}  // namespace dlmb
