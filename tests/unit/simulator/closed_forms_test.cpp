// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// What the simulator says of the backends' algorithms, against closed forms of LogGP, exactly. P ranks, m bytes,
// D = L + 2 o. A message of s bytes that nothing delays takes D + (s - 1) G.
#include "common/base/error.hpp"
#include "common/tools/predict/simulator/lower.hpp"
#include "common/tools/predict/simulator/simulation.hpp"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <bit>
#include <numeric>

namespace dlmb::predict {
namespace {

constexpr Picoseconds nanosecond = 1000;
constexpr Picoseconds latency = 2000 * nanosecond;
constexpr Picoseconds overhead = 300 * nanosecond;
constexpr Picoseconds byte = 1 * nanosecond;  // G
constexpr Picoseconds message = latency + 2 * overhead;
constexpr int powers[] = {2, 4, 8, 16, 64, 256};

Machine machine_with(Picoseconds reduce_a_byte = 0) {
    Machine machine = uniform_machine({latency, overhead, 0, byte * 1000, 0});
    machine.reduce_per_byte = reduce_a_byte * 1000;
    return machine;
}

/// Plans of one step on all ranks.
PlanSource all_do(int ranks, Operation const& operation) {
    return {static_cast<std::size_t>(ranks), [ranks, operation](Rank me) {
                Plan plan;
                plan.me = me;
                plan.groups.resize(1);
                plan.groups[0].members.resize(static_cast<std::size_t>(ranks));
                std::iota(plan.groups[0].members.begin(), plan.groups[0].members.end(), 0);
                plan.buffers = {{"send", Bytes{1} << 40U}, {"recv", Bytes{1} << 40U}};
                plan.steps = {{operation, {}, "step", -1}};
                return plan;
            }};
}

Simulation simulated(int ranks, Operation const& operation, std::string const& algorithm, algorithms::Knobs knobs = {},
                     Machine const& machine = machine_with()) {
    return simulate(lower(all_do(ranks, operation), {{{kind_of(operation), algorithm}}, knobs}), machine);
}

dlmb::Collective all_reduce(Bytes bytes) {
    return {OperationKind::all_reduce, 0, 0, {0, 0}, {1, 0}, bytes, Element::fp32, Reduction::sum};
}
Exchange exchange(int ranks, Bytes each) {
    Exchange step{0, 0, 1, {}, {}};
    for (Rank peer = 0; peer < ranks; ++peer) {
        step.send.push_back({peer, static_cast<Bytes>(peer) * each, each});
    }
    step.recv = step.send;
    return step;
}
int log2_of(int power) {
    return std::countr_zero(static_cast<unsigned>(power));
}

// 2 (P - 1) steps, each after the one before: 2 (P - 1) (D + (m / P - 1) G), and gamma m / P in half of them.
TEST(ClosedForms, RingAllReduce) {
    for (int const ranks : {2, 3, 4, 7, 16, 64}) {
        Bytes const part = 4096;
        Simulation const is =
            simulated(ranks, all_reduce(part * static_cast<Bytes>(ranks)), "ring", {}, machine_with(2 * nanosecond));
        Picoseconds const step = message + static_cast<Picoseconds>(part - 1) * byte;
        EXPECT_EQ(is.time, (ranks - 1) * (2 * step + static_cast<Picoseconds>(part) * 2 * nanosecond)) << ranks;
        EXPECT_EQ(is.messages, static_cast<std::uint64_t>(2 * ranks * (ranks - 1)));
        EXPECT_EQ(is.split.total(), is.time);
        EXPECT_EQ(is.split.latency, 2 * (ranks - 1) * latency);
    }
}

// log2 P rounds of all data.
TEST(ClosedForms, RecursiveDoublingAllReduce) {
    for (int const ranks : powers) {
        Bytes const bytes = 1000;
        Simulation const is =
            simulated(ranks, all_reduce(bytes), "recursive_doubling", {}, machine_with(3 * nanosecond));
        EXPECT_EQ(is.time, log2_of(ranks) * (message + static_cast<Picoseconds>(bytes - 1) * byte +
                                             static_cast<Picoseconds>(bytes) * 3 * nanosecond))
            << ranks;
        EXPECT_EQ(is.split.total(), is.time);
    }
}

// Halving and doubling: m / 2, m / 4 ... m / P and back: 2 log2 P D + 2 (m (P - 1) / P - log2 P) G.
TEST(ClosedForms, HalvingDoublingAllReduce) {
    for (int const ranks : powers) {
        Bytes const bytes = 4096 * 4;
        Simulation const is = simulated(ranks, all_reduce(bytes), "knomial", {.radix = 2});
        auto const moved = static_cast<Picoseconds>(bytes / static_cast<Bytes>(ranks)) * (ranks - 1);
        EXPECT_EQ(is.time, 2 * log2_of(ranks) * message + 2 * (moved - log2_of(ranks)) * byte) << ranks;
    }
}

// All messages at once leave a rank one after the other, and arrive so: (P - 1) (s - 1) G + D for long ones. For short
// ones the processor is busy for 2 (P - 1) o, and waits for the last one at most for L.
TEST(ClosedForms, LinearExchange) {
    for (int const ranks : {2, 3, 8, 33}) {
        Bytes const bytes = 5001;
        EXPECT_EQ(simulated(ranks, exchange(ranks, bytes), "linear").time, (ranks - 1) * 5000 * byte + message)
            << ranks;
    }
    Picoseconds const many_short = simulated(33, exchange(33, 1), "linear").time;
    EXPECT_GE(many_short, 64 * overhead);
    EXPECT_LE(many_short, 64 * overhead + latency);
}

// One after the other: the next message leaves when the NIC is free of the one before, as in the linear one.
TEST(ClosedForms, PairwiseExchange) {
    for (int const ranks : {2, 5, 16}) {
        LoweringChoice const one_at_once{{{OperationKind::exchange, "pairwise"}}, {}, 1};
        Simulation const is = simulate(lower(all_do(ranks, exchange(ranks, 5001)), one_at_once), machine_with());
        EXPECT_EQ(is.time, (ranks - 1) * 5000 * byte + message) << ranks;
    }
}

// With rendezvous a send ends with its receive: P - 1 rounds.
TEST(ClosedForms, PairwiseExchangeByRendezvousRunsInRounds) {
    Machine machine = machine_with();
    machine.eager_limit = 100;
    LoweringChoice const one_at_once{{{OperationKind::exchange, "pairwise"}}, {}, 1};
    for (int const ranks : {2, 5, 16}) {
        Simulation const is = simulate(lower(all_do(ranks, exchange(ranks, 5001)), one_at_once), machine);
        EXPECT_EQ(is.time, (ranks - 1) * (message + 5000 * byte)) << ranks;
    }
}

// The farthest leaf is log2 P messages away, and each is the first of its sender.
TEST(ClosedForms, BinomialBroadcast) {
    for (int const ranks : powers) {
        dlmb::Collective const step{OperationKind::broadcast, 0, 0, {0, 0}, {0, 0}, 777, Element::byte};
        EXPECT_EQ(simulated(ranks, step, "knomial", {.radix = 2}).time, log2_of(ranks) * (message + 776 * byte))
            << ranks;
    }
}

// A pipeline of n pieces over P - 1 links: the last piece leaves the root n - 1 pieces after the first.
TEST(ClosedForms, ChainBroadcast) {
    Bytes const piece = 4096;
    for (int const ranks : {2, 3, 9}) {
        for (Bytes const pieces : {1U, 5U}) {
            dlmb::Collective const step{OperationKind::broadcast, 0, 0, {0, 0}, {0, 0}, piece * pieces, Element::byte};
            Picoseconds const one = static_cast<Picoseconds>(piece - 1) * byte;
            EXPECT_EQ(simulated(ranks, step, "chain", {.segment = piece}).time,
                      (ranks - 1) * (message + one) + static_cast<Picoseconds>(pieces - 1) * one)
                << ranks << ' ' << pieces;
        }
    }
}

// Rounds of 1, 2, 4 ... bytes.
TEST(ClosedForms, DisseminationBarrier) {
    for (int const ranks : powers) {
        EXPECT_EQ(simulated(ranks, Barrier{0}, "dissemination").time,
                  log2_of(ranks) * message + (ranks - 1 - log2_of(ranks)) * byte)
            << ranks;
    }
}

// All to one: the NIC of the root takes one part after the other.
TEST(ClosedForms, DirectGather) {
    dlmb::Collective const step{OperationKind::gather, 0, 0, {0, 0}, {1, 0}, Bytes{9} * 4001, Element::byte};
    EXPECT_EQ(simulated(9, step, "direct_parts").time, 8 * 4000 * byte + message);
}

// Levels: neighbours share nodes of 4; of a ring of 8 two hops leave a node, and the slowest sets the pace.
TEST(ClosedForms, ARingGoesAtThePaceOfItsSlowestLink) {
    Machine machine = machine_with();
    machine.ranks_per_node = 4;
    machine.level(Level::system).front().parameters.latency = 3 * latency;
    EXPECT_EQ(machine.level_of(3, 4), Level::system);
    EXPECT_EQ(machine.level_of(4, 7), Level::node);
    // Part p passes both slow links or one; the last to arrive passed 7 links, 2 of them slow, twice.
    Simulation const slow = simulated(8, all_reduce(8 * 4), "ring", {}, machine);
    Simulation const fast = simulated(8, all_reduce(8 * 4), "ring", {}, machine_with());
    EXPECT_GE(slow.time, fast.time + 4 * 2 * latency);
    EXPECT_LE(slow.time, fast.time + 14 * 2 * latency);
    EXPECT_EQ(slow.split.total(), slow.time);
}

TEST(ClosedForms, SizesHaveTheirOwnParameters) {
    Machine machine = machine_with();
    for (auto& level : machine.levels) {
        level.insert(level.begin(), {100, {latency / 2, overhead, 0, byte * 1000, 0}});
    }
    dlmb::Collective const at{OperationKind::broadcast, 0, 0, {0, 0}, {0, 0}, 100, Element::byte};
    dlmb::Collective const above{OperationKind::broadcast, 0, 0, {0, 0}, {0, 0}, 101, Element::byte};
    EXPECT_EQ(simulated(2, at, "chain", {}, machine).time, message - latency / 2 + 99 * byte);
    EXPECT_EQ(simulated(2, above, "chain", {}, machine).time, message + 100 * byte);
}

// Half of what the step reads and writes.
TEST(ClosedForms, WhatIsPackedTakesTheTimeOfACopy) {
    Machine machine = machine_with();
    machine.copy_per_byte = 2 * nanosecond * 1000;
    Rearrangement const rows{PackDirection::pack, Processor::host, 64, 0, 1, {{100, 0, 0, 64, 64}}, {}};
    Conversion const numbers{PackDirection::pack, {Code::fp8, 128, ScaleType::fp32}, Element::bf16, 0, 1,
                             {{1, 96, 0, 0}}};
    auto const time_of = [&](Compute const& step) { return simulate(lower(all_do(2, step), {{}, {}}), machine).time; };
    EXPECT_EQ(time_of({.rearrangement = rows}), 6400 * 2 * nanosecond);
    // 192 B of numbers, 96 of codes and 4 of a scale: 292 / 2
    EXPECT_EQ(time_of({.conversion = numbers}), 146 * 2 * nanosecond);
}

// Where ranks are alike, those of one node stand for all: the same times as with all of them.
TEST(ClosedForms, RanksThatStandForOthersTakeTheSameTime) {
    Machine machine = machine_with(2 * nanosecond);
    machine.ranks_per_node = 4;
    machine.copy_per_byte = 700;
    machine.eager_limit = 2000;
    machine.level(Level::node).front().parameters = {300 * nanosecond, 100 * nanosecond, 50 * nanosecond, 200, 10};
    int folded = 0;
    for (int const ranks : {8, 12, 16, 64}) {
        for (Bytes const part : {64U, 4096U}) {
            Bytes const bytes = part * static_cast<Bytes>(ranks);
            dlmb::Collective const gather{OperationKind::all_gather, 0, 0, {0, 0}, {1, 0}, bytes, Element::byte};
            dlmb::Collective const scatter{OperationKind::reduce_scatter, 0, 0, {0, 0}, {1, 0}, bytes, Element::fp32};
            std::pair<Operation, std::string> const steps[] = {
                {all_reduce(bytes), "ring"},
                {scatter, "ring"},
                {gather, "ring"},
                {gather, "neighbor"},
                {exchange(ranks, part), "linear"},
                {exchange(ranks, part), "pairwise"},
                {exchange(ranks, part), "bruck"},
                {Barrier{0}, "auto"},
                {gather, "bruck_allgather"},
                {all_reduce(bytes), "recursive_doubling"},
                {all_reduce(bytes + 4), "ring"},
            };
            for (auto const& [step, algorithm] : steps) {
                SCOPED_TRACE(fmt::format("{} {} {} {}", name_of(step), algorithm, ranks, part));
                LoweringChoice const choice{{{kind_of(step), algorithm}}, {.segment = 1024}};
                int const period = period_of(all_do(ranks, step), choice, 4);
                folded += period < ranks ? 1 : 0;
                Simulation const few = simulate(lower(all_do(ranks, step), choice, period), machine);
                Simulation const all = simulate(lower(all_do(ranks, step), choice), machine);
                EXPECT_EQ(few.ends, all.ends);
                EXPECT_EQ(few.busy, all.busy);
                EXPECT_EQ(few.messages, all.messages);
                EXPECT_EQ(few.split.total(), few.time);
            }
        }
    }
    EXPECT_EQ(folded, 4 * 2 * 8);  // not: bruck_allgather, recursive_doubling, unequal parts
}

TEST(ClosedForms, AnAlgorithmThatDoesNotDoTheOperationIsRefused) {
    EXPECT_THROW((void)simulated(4, all_reduce(64), "chain"), UsageError);
    EXPECT_THROW((void)simulated(4, all_reduce(64), "rings"), UsageError);
    Exchange ragged = exchange(4, 8);
    ragged.send[1].bytes = 4;
    EXPECT_THROW((void)simulated(4, ragged, "bruck"), UsageError);
}

}  // namespace
}  // namespace dlmb::predict
