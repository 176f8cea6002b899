// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Ranks as threads: the reference every other backend is compared with, and what runs without MPI, UCX or a GPU. Its
// times say how this process copies, nothing about a network.
#include "common/backend_kit/compute.hpp"
#include "common/backend_kit/host_reduce.hpp"
#include "common/backend_kit/ready_steps.hpp"
#include "common/backend_kit/registry.hpp"
#include "common/backends/in_process/schedule.hpp"
#include "common/base/error.hpp"
#include "common/base/processing_units.hpp"
#include "common/bootstrap/in_process/in_process_bootstrap.hpp"
#include "common/bootstrap/over_ranks.hpp"

#include <fmt/core.h>

#include <array>
#include <cstring>
#include <utility>
#include <vector>

namespace dlmb::in_process {
namespace {

/// In place, a block may lie where it belongs already.
void copy_block(std::byte* to, std::byte const* from, Bytes bytes) {
    if (to != from && bytes > 0) {
        std::memcpy(to, from, bytes);
    }
}

/// Row by row, or block by block, where these lie apart.
void copy_arrival(AwaitedSlot const& arrival) {
    std::byte const* const data = arrival.slot->data();
    if (arrival.places.empty()) {
        copy_block(arrival.destination, data, arrival.slot->bytes());
        return;
    }
    std::vector<Bytes> const& from = arrival.slot->places();
    for (std::size_t row = 0; row < from.size(); ++row) {
        std::memcpy(arrival.destination + arrival.places[row], data + from[row],
                    arrival.block_bytes.empty() ? arrival.row_bytes : arrival.block_bytes[row]);
    }
}

bool is_done(Work const& work) {
    return (!work.port || work.port->received) && work.departed == work.departures.size() &&
           work.seen == work.expected.size() && work.read == work.arrivals.size() &&
           work.handed_back == work.outgoing.size();
}

/// Every thread copies what it receives straight from the sender's buffer. No lock, no allocation. Sends
/// are rendezvous: a step is complete when its receivers have copied. A plan that needs buffering hangs here.
class CopyPlan final : public CompiledPlan {
public:
    CopyPlan(Plan const& plan, std::vector<Work> schedule, InProcessBootstrap const& bootstrap, Idle idle)
        : CompiledPlan(plan.steps.size()), schedule_(std::move(schedule)), steps_(precedence_of(plan)),
          bootstrap_(bootstrap), idle_(idle) {}
    CopyPlan(CopyPlan const&) = delete;
    CopyPlan& operator=(CopyPlan const&) = delete;
    ~CopyPlan() override {
        for (Work& work : schedule_) {
            for (std::shared_ptr<Slot> const& slot : work.outgoing) {
                slot->withdraw();
            }
            for (std::shared_ptr<Slot> const& slot : work.expected) {
                slot->withdraw();
            }
        }
    }

    void launch() override {
        begin();
        ++iteration_;
        for (Work& work : schedule_) {
            for (std::shared_ptr<Slot> const& slot : work.expected) {
                slot->post(iteration_);
            }
        }
        steps_.launch(*this);
    }
    void finish() override { steps_.finish(*this); }
    bool poll() override {
        bootstrap_.leave_if_failed();
        return steps_.look(*this);
    }

private:
    friend ReadySteps<>;

    bool start(StepId step, NoState& /*state*/) {
        Work& work = schedule_[step];
        work.read = 0;
        work.handed_back = 0;
        work.departed = 0;
        work.seen = 0;
        if (work.compute) {
            work.compute->start();
        }
        if (work.port) {
            work.port->received = false;
            work.port->aggregator->send(work.port->place, iteration_, work.port->operand);
        }
        for (std::shared_ptr<Slot> const& slot : work.outgoing) {
            slot->post(iteration_);
        }
        return false;
    }

    bool poll(StepId step, NoState& /*state*/) {
        Work& work = schedule_[step];
        moved_ = advance(work, step) || advance_signals(work, step) || moved_ ||
                 (work.compute && work.compute->ends_with_its_work());
        return is_done(work) && (!work.compute || work.compute->test());
    }

    void complete(StepId step) { mark(step); }

    void idle() {
        if (!moved_) {
            bootstrap_.leave_if_failed();
            idle_();
        }
        moved_ = false;
    }

    /// True when anything was read or came back.
    bool advance(Work& work, StepId step) {
        if (work.port) {
            return receive(*work.port);
        }
        std::size_t const before = work.read + work.handed_back;
        if (work.reduce) {
            reduce_arrivals(work, *work.reduce);
        } else {
            copy_arrivals(work, step);
        }
        while (work.handed_back < work.outgoing.size() && work.outgoing[work.handed_back]->handed_back(iteration_)) {
            ++work.handed_back;
        }
        if (work.reduce && !work.reduce->scratch.empty() && is_done(work)) {
            copy_block(work.reduce->result, work.reduce->scratch.data(), work.reduce->scratch.size());
        }
        return work.read + work.handed_back > before;
    }

    /// True when anything was written or seen.
    bool advance_signals(Work& work, StepId step) {
        std::size_t const before = work.departed + work.seen;
        for (Departure& departure : work.departures) {
            if (departure.iteration != iteration_ && departure.slot->open(iteration_)) {
                for (Departure::Write const& write : departure.writes) {
                    std::memcpy(departure.slot->target() + write.to, write.from, write.bytes);
                }
                departure.slot->hand_back(iteration_);
                departure.iteration = iteration_;
                ++work.departed;
            }
        }
        for (; work.seen < work.expected.size() && work.expected[work.seen]->handed_back(iteration_); ++work.seen) {
            if (signal_watch() != nullptr) {
                signal_watch()->seen(step, work.seen);
            }
        }
        return work.departed + work.seen > before;
    }

    bool receive(Port& port) const {
        if (port.received || !port.aggregator->complete(iteration_)) {
            return false;
        }
        port.aggregator->receive(port.place, iteration_, port.result);
        port.received = true;
        return true;
    }

    void copy_arrivals(Work& work, StepId step) {
        for (AwaitedSlot& arrival : work.arrivals) {
            if (arrival.iteration != iteration_ && arrival.slot->open(iteration_)) {
                copy_arrival(arrival);
                if (arrival.signal && signal_watch() != nullptr) {
                    signal_watch()->seen(step, *arrival.signal);
                }
                arrival.slot->hand_back(iteration_);
                arrival.iteration = iteration_;
                ++work.read;
            }
        }
    }

    void reduce_arrivals(Work& work, Reducing& reduce) {
        std::byte* const into = reduce.scratch.empty() ? reduce.result : reduce.scratch.data();
        for (; work.read < work.arrivals.size(); ++work.read) {
            Slot& slot = *work.arrivals[work.read].slot;
            if (!slot.open(iteration_)) {
                return;
            }
            if (work.read == 0) {
                copy_block(into, slot.data(), slot.bytes());
            } else {
                host_reduce(into, slot.data(), slot.bytes(), reduce.element, reduce.reduction);
            }
            slot.hand_back(iteration_);
        }
    }

    std::vector<Work> schedule_;  // by step
    ReadySteps<> steps_;
    InProcessBootstrap const& bootstrap_;
    Idle idle_;
    std::uint64_t iteration_ = 0;
    bool moved_ = false;  // blocks, since the last call of idle(), without completing a step
};

constexpr OperationSet reductions{OperationKind::all_reduce, OperationKind::reduce, OperationKind::reduce_scatter};
constexpr OperationSet all_reduce{OperationKind::all_reduce};

constexpr std::array<MethodInfo, 3> method_table{
    {{.name = "copy",
      .description = "each thread copies from the sender's buffer (memcpy), and adds in the order of the ranks",
      .operations = every_operation.with(write_operations).with(read_operations),
      .stable = {.over_arrival = reductions},
      .scattered = true},
     {.name = "switch_single",
      .description = "an emulated switch adds what arrives to one buffer, in the order of arrival",
      .operations = all_reduce},
     {.name = "switch_tree",
      .description = "an emulated switch adds what has arrived pair by pair, in the order of the ranks",
      .operations = all_reduce,
      .stable = {.over_arrival = all_reduce}}}};

Aggregation read_method(MethodChoice const& method) {
    return static_cast<Aggregation>(&chosen_method(method_table, "in_process", method) - method_table.data());
}

/// Nodes of such ranks are made up: all of them share one machine.
bool should_yield(YieldPolicy policy, int ranks) {
    return policy == YieldPolicy::automatic ? std::cmp_greater(ranks, usable_processing_units().size())
                                            : policy == YieldPolicy::always;
}

class InProcessBackend final : public Backend {
public:
    InProcessBackend(InProcessBootstrap& bootstrap, YieldPolicy yield)
        : bootstrap_(bootstrap), idle_(should_yield(yield, bootstrap.size())) {}

    [[nodiscard]] std::string_view name() const override { return "in_process"; }
    [[nodiscard]] std::span<MethodInfo const> methods() const override { return method_table; }
    [[nodiscard]] bool supports(MemoryKind kind) const override { return kind == MemoryKind::host; }
    [[nodiscard]] Provenance provenance() const override {
        return {{"ranks_are", "threads of one process"}, {"yields", idle_.yields() ? "yes" : "no"}};
    }

    [[nodiscard]] MadePlan compile(Plan const& plan, Buffers const& buffers, MethodChoice const& method) override {
        Aggregation const aggregation = read_method(method);
        if (!supports(buffers.kind)) {
            return Unsupported{fmt::format("in_process copies host memory only, not {}", dlmb::name_of(buffers.kind))};
        }
        if (std::string reason = first_refusal(bootstrap_, why_no_exchange_in_place(plan)); !reason.empty()) {
            return Unsupported{std::move(reason)};
        }
        if (plan.me != bootstrap_.rank() || buffers.base.size() < plan.buffers.size()) {
            throw Error(fmt::format("in_process rank {}: the plan is rank {}'s and names {} buffers, {} are bound",
                                    bootstrap_.rank(), plan.me, plan.buffers.size(), buffers.base.size()));
        }
        // Every compile has a rendezvous of its own; the slots live on in the plans of their two ranks.
        auto const rendezvous = std::static_pointer_cast<Rendezvous>(
            bootstrap_.share(bootstrap_.rank() == 0 ? std::make_shared<Rendezvous>() : nullptr));
        std::vector<Work> schedule = make_schedule(plan, buffers, *rendezvous, aggregation);
        bootstrap_.barrier();
        rendezvous->check(bootstrap_.rank());
        bootstrap_.barrier();  // all ranks fail together: none is left with a plan that cannot run
        return MadePlan(std::make_unique<CopyPlan>(plan, std::move(schedule), bootstrap_, idle_));
    }

    [[nodiscard]] MadePlan compile_polled(Plan const& plan, Buffers const& buffers,
                                          MethodChoice const& method) override {
        return compile(plan, buffers, method);
    }

    void quiesce() override { bootstrap_.barrier(); }

private:
    InProcessBootstrap& bootstrap_;
    Idle idle_;
};

}  // namespace

MadeBackend make_backend(BackendContext const& context) {
    auto* const bootstrap = dynamic_cast<InProcessBootstrap*>(&context.bootstrap);
    if (bootstrap == nullptr) {
        return Unsupported{"in_process runs ranks as threads; start the program without mpirun and with --ranks N"};
    }
    return std::unique_ptr<Backend>(std::make_unique<InProcessBackend>(*bootstrap, context.yield));
}

}  // namespace dlmb::in_process
