// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// A backend that delegates to a real one and then does something wrong, slow or noted, so that tests see how the
// runner takes it. What it does is a Fault: a pair of hooks around each iteration.
#pragma once

#include "common/backend_kit/backend.hpp"
#include "common/base/error.hpp"
#include "tests/conformance/late_data.hpp"

#include <algorithm>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <variant>
#include <vector>

namespace dlmb::measure::testing {

/// One iteration of one compiled plan on one rank, host memory.
struct Iteration {
    Plan const& plan;
    Buffers const& buffers;
    std::uint64_t number;  // counted per backend and rank, from 0
};

struct Fault {
    std::function<void(Iteration const&)> before = [](Iteration const&) {};
    std::function<void(Iteration const&)> after = [](Iteration const&) {};
    std::function<void()> on_quiesce = [] {};
    std::function<void()> on_barrier = [] {};
    bool launch_blocks = false;                           // what compiled plans say of themselves
    bool data_are_late = false;                           // of puts: they come behind their signals
    std::optional<std::uint64_t> refused = std::nullopt;  // the call of compile(), from 0 on, on all ranks
};

class FaultyBackend final : public Backend {
public:
    FaultyBackend(Backend& inner, Fault fault) : inner_(inner), fault_(std::move(fault)) {}

    [[nodiscard]] std::string_view name() const override { return inner_.name(); }
    [[nodiscard]] std::span<MethodInfo const> methods() const override { return inner_.methods(); }
    [[nodiscard]] bool supports(MemoryKind kind) const override { return inner_.supports(kind); }
    [[nodiscard]] Provenance provenance() const override { return inner_.provenance(); }
    [[nodiscard]] Expected<std::unique_ptr<CompiledPlan>, Unsupported> compile(Plan const& plan, Buffers const& buffers,
                                                                               MethodChoice const& method) override {
        if (compiled_++ == fault_.refused) {
            return Unsupported{"no room is left"};
        }
        if (fault_.data_are_late) {
            return conformance::LateData::compile(inner_, plan, buffers);
        }
        auto compiled = inner_.compile(plan, buffers, method);
        if (!compiled) {
            return compiled;
        }
        return std::unique_ptr<CompiledPlan>(
            std::make_unique<Compiled>(*this, plan, buffers, std::move(compiled).value()));
    }
    void quiesce() override {
        fault_.on_quiesce();
        inner_.quiesce();
    }
    void barrier(Bootstrap& bootstrap) override {
        fault_.on_barrier();
        inner_.barrier(bootstrap);
    }

private:
    class Compiled final : public CompiledPlan {
    public:
        Compiled(FaultyBackend& owner, Plan const& plan, Buffers const& buffers, std::unique_ptr<CompiledPlan> inner)
            : CompiledPlan(plan.steps.size()), owner_(owner), plan_(plan), buffers_(buffers), inner_(std::move(inner)) {
        }
        void launch() override {
            begin();
            owner_.fault_.before({plan_, buffers_, owner_.iterations_});
            inner_->watch_signals(signal_watch());
            inner_->launch();
        }
        [[nodiscard]] bool launch_blocks() const override { return owner_.fault_.launch_blocks; }
        void finish() override {
            inner_->finish();
            for (PhaseMark const& done : inner_->marks()) {
                mark(done.step);
            }
            owner_.fault_.after({plan_, buffers_, owner_.iterations_++});
        }

    private:
        FaultyBackend& owner_;
        Plan const& plan_;
        Buffers const& buffers_;
        std::unique_ptr<CompiledPlan> inner_;
    };

    Backend& inner_;
    Fault fault_;
    std::uint64_t iterations_ = 0;
    std::uint64_t compiled_ = 0;
};

inline Exchange const& exchange_of(Plan const& plan, std::string_view label) {
    for (Step const& step : plan.steps) {
        if (step.label == label) {
            return std::get<Exchange>(step.operation);
        }
    }
    throw Error("the test's plan has no step " + std::string(label));
}

/// What `label` received from group rank `peer`.
inline std::span<std::byte> received(Iteration const& iteration, std::string_view label, Rank peer) {
    Exchange const& exchange = exchange_of(iteration.plan, label);
    for (Block const& block : exchange.recv) {
        if (block.peer == peer) {
            return {iteration.buffers.base[exchange.recv_buffer] + block.offset, block.bytes};
        }
    }
    throw Error("the test's plan receives nothing from that peer");
}

/// One bit of byte 100 of what `victim` receives from `peer` flips, from iteration `first` on.
inline Fault corrupted_byte(Rank victim, std::string const& label, Rank peer, std::uint64_t first = 0) {
    Fault fault;
    fault.after = [=](Iteration const& iteration) {
        if (iteration.plan.me == victim && iteration.number >= first) {
            received(iteration, label, peer)[100] ^= std::byte{4};
        }
    };
    return fault;
}

/// `victim` finds the equally long blocks of two peers in each other's place.
inline Fault swapped_blocks(Rank victim, std::string const& label, Rank one, Rank other) {
    Fault fault;
    fault.after = [=](Iteration const& iteration) {
        if (iteration.plan.me == victim) {
            std::span<std::byte> const a = received(iteration, label, one);
            std::span<std::byte> const b = received(iteration, label, other);
            std::swap_ranges(a.begin(), a.end(), b.begin());
        }
    };
    return fault;
}

/// The last 16 bytes of a block do not arrive: what was in memory before is still there.
inline Fault short_message(Rank victim, std::string const& label, Rank peer) {
    auto const kept = std::make_shared<std::vector<std::byte>>();
    Fault fault;
    fault.before = [=](Iteration const& iteration) {
        if (iteration.plan.me == victim) {
            std::span<std::byte> const tail = received(iteration, label, peer).last(16);
            kept->assign(tail.begin(), tail.end());
        }
    };
    fault.after = [=](Iteration const& iteration) {
        if (iteration.plan.me == victim) {
            std::copy(kept->begin(), kept->end(), received(iteration, label, peer).last(16).begin());
        }
    };
    return fault;
}

/// What a library may do to iterations `first` .. `last` of `victim`.
inline Fault struck(Rank victim, std::uint64_t first, std::uint64_t last,
                    std::function<void(Iteration const&)> const& strike) {
    Fault fault;
    fault.after = [=](Iteration const& iteration) {
        if (iteration.plan.me == victim && iteration.number >= first && iteration.number <= last) {
            strike(iteration);
        }
    };
    return fault;
}

/// Nothing arrives in iterations `first` .. `last` of `victim`: what was where its first step receives is there again.
inline Fault nothing_delivered(Rank victim, std::uint64_t first, std::uint64_t last) {
    auto const place = [](Iteration const& iteration) -> std::span<std::byte> {
        Operation const& operation = iteration.plan.steps.at(0).operation;
        if (auto const* const collective = std::get_if<Collective>(&operation)) {
            return {iteration.buffers.base[collective->recv.buffer] + collective->recv.offset, collective->bytes};
        }
        BufferId const buffer = std::get<Exchange>(operation).recv_buffer;
        return {iteration.buffers.base[buffer], iteration.plan.buffers[buffer].bytes};
    };
    auto const kept = std::make_shared<std::vector<std::byte>>();
    Fault fault = struck(victim, first, last, [=](Iteration const& iteration) {
        std::copy(kept->begin(), kept->end(), place(iteration).begin());
    });
    fault.before = [=](Iteration const& iteration) {
        if (iteration.plan.me == victim) {
            kept->assign(place(iteration).begin(), place(iteration).end());
        }
    };
    return fault;
}

/// `victim` is done later than the others by `delay`, which nobody waits for.
inline Fault delayed_rank(Rank victim, std::chrono::milliseconds delay) {
    Fault fault;
    fault.after = [=](Iteration const& iteration) {
        if (iteration.plan.me == victim) {
            std::this_thread::sleep_for(delay);
        }
    };
    return fault;
}

inline Fault throwing_rank(Rank victim, std::uint64_t iteration_number) {
    Fault fault;
    fault.before = [=](Iteration const& iteration) {
        if (iteration.plan.me == victim && iteration.number == iteration_number) {
            throw Error("injected fault of a library call");
        }
    };
    return fault;
}

}  // namespace dlmb::measure::testing
