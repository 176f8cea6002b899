// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "tests/unit/plan/plan_sets.hpp"

namespace dlmb::test {
namespace {

struct Sides {
    std::vector<Bytes> send, recv;
};

Sides sides_of(Rank me, int ranks, ByteMatrix const& bytes) {
    Sides sides;
    for (Rank peer = 0; peer < ranks; ++peer) {
        sides.send.push_back(bytes(me, peer));
        sides.recv.push_back(bytes(peer, me));
    }
    return sides;
}

}  // namespace

std::vector<Plan> exchange_plans(int ranks, ByteMatrix const& bytes) {
    return plans_of(ranks, [&](PlanBuilder& builder, GroupId all, Rank me) {
        Sides const sides = sides_of(me, ranks, bytes);
        builder.exchange(all, sides.send, sides.recv, "dispatch");
    });
}

std::vector<Plan> mixed_plans() {
    constexpr int ranks = 4;
    return plans_of(ranks, [](PlanBuilder& builder, GroupId all, Rank me) {
        Sides const sides = sides_of(
            me, ranks, [](Rank from, Rank to) { return 1000 * static_cast<Bytes>(from + 1) + static_cast<Bytes>(to); });
        StepId last = builder.compute(500, "route");
        last = builder.exchange(all, sides.send, sides.recv, "dispatch", {last});
        last = builder.exchange(all, sides.recv, sides.send, "combine", {last});
        last = builder.all_gather(all, 128, Element::int64, "gather", {last});
        last = builder.all_reduce(all, 60, Element::fp32, Reduction::sum, "reduce", {last});
        last = builder.reduce_scatter(all, 64, Element::bf16, Reduction::max, "scatter", {last});
        last = builder.broadcast(all, 1, 100, Element::byte, "broadcast", {last});
        builder.recv(all, (me + ranks - 1) % ranks, 300, 0, 0, "forward", {last});
        last = builder.send(all, (me + 1) % ranks, 300, 0, 0, "forward", {last});
        last = builder.reduce(all, 1, 40, Element::int8, Reduction::min, "rooted.reduce", {last});
        last = builder.gather(all, 1, SharedBytes({8, 0, 24, 16}), Element::int64, "rooted.gather", {last});
        last = builder.scatter(all, 1, 12, Element::byte, "rooted.scatter", {last});
        builder.barrier(all, "rooted.barrier", {last});
    });
}

std::string texts(std::vector<PlanProblem> const& problems) {
    std::string all;
    for (PlanProblem const& problem : problems) {
        all += problem.text + "\n";
    }
    return all;
}

}  // namespace dlmb::test
