// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// What the conformance corpus cannot see of the mpi backend: split messages, counts beyond int, collectives that must
// not block each other. Every byte is checked.
#include "common/backends/mpi/collectives.hpp"
#include "common/backends/mpi/communicators.hpp"
#include "common/backends/mpi/compile_plan.hpp"
#include "common/backends/mpi/messages.hpp"
#include "common/formats/plan/builder.hpp"
#include "tests/mpi/rig.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace dlmb::mpi {
namespace {

using Problems = std::vector<std::string>;
Problems const none;

constexpr std::string_view methods[] = {"default",
                                        "reproducible",
                                        "alltoallv",
                                        "alltoallw",
                                        "isend_irecv",
                                        "pairwise",
                                        "pairwise:max_outstanding=3",
                                        "neighbor",
                                        "persistent",
                                        "put",
                                        "get",
                                        "put:sync=lock",
                                        "get:sync=lock_all",
                                        "put:sync=fence",
                                        "get:sync=pscw",
                                        "put:sync=fence:window=allocate"};

bool is_one_sided(std::string_view method) {
    return method.starts_with("put") || method.starts_with("get");
}
bool waits_for_peers(std::string_view method) {
    return method.find("fence") != std::string_view::npos || method.find("pscw") != std::string_view::npos;
}

using Leaving = bool (*)(std::string_view method);

/// With every method that is not left out.
void expect_right(Rig& rig, Plan const& plan, Leaving leaves_out = nullptr, std::uint32_t iterations = 2) {
    for (std::string_view const method : methods) {
        if (leaves_out == nullptr || !leaves_out(method)) {
            EXPECT_EQ(rig.run(plan, method, iterations), none) << method;
        }
    }
}

bool launch_blocks(Rig& rig, Plan const& plan, std::string_view method) {
    Buffers const buffers = rig.bind(plan);
    return rig.backend().compile(plan, buffers, parse_method(method)).value()->launch_blocks();
}

/// Some zero, some odd, some above the eager limit of shared memory (4 KiB), the self block included.
Bytes ragged(Rank from, Rank to) {
    return static_cast<Bytes>((from * 7 + to * 13) % 5) * 4001 + static_cast<Bytes>(from == to ? 17 : 0);
}

Plan dispatch_and_combine(Rig const& rig) {
    PlanBuilder builder(rig.me());
    GroupId const all = builder.group(rig.world());
    StepId const counts =
        builder.all_gather(all, 24 * static_cast<Bytes>(rig.ranks()), Element::int64, "count_exchange");
    StepId const dispatch = add_exchange(builder, rig.world(), rig.me(), ragged, "dispatch", {counts});
    add_exchange(builder, rig.world(), rig.me(), [](Rank from, Rank to) { return ragged(to, from); }, "combine",
                 {dispatch});
    return std::move(builder).finish();
}

TEST(MpiBackend, MovesARaggedDispatchAndItsCombineWithEveryMethodWholeAndInMessagesOfTheChunkLimit) {
    for (CallLimits const& limits : {CallLimits{}, CallLimits{.chunk_bytes = 1000}}) {
        SCOPED_TRACE(limits.chunk_bytes);
        Rig rig(limits);
        expect_right(rig, dispatch_and_combine(rig));
    }
}

TEST(MpiBackend, SaysOfAPlanWhetherItsFirstStepBlocks) {
    Rig rig;
    auto const blocks = [&rig](bool with_counts, std::string_view method) {
        PlanBuilder builder(rig.me());
        std::vector<StepId> after;
        if (with_counts) {
            GroupId const all = builder.group(rig.world());
            after = {builder.all_gather(all, 24 * static_cast<Bytes>(rig.ranks()), Element::int64, "count_exchange")};
        }
        add_exchange(builder, rig.world(), rig.me(), ragged, "dispatch", after);
        return launch_blocks(rig, std::move(builder).finish(), method);
    };
    EXPECT_TRUE(blocks(false, "alltoallv"));
    EXPECT_FALSE(blocks(false, "isend_irecv"));
    EXPECT_TRUE(blocks(true, "isend_irecv")) << "the gather, which the method does not do, is a blocking call";
    EXPECT_FALSE(blocks(true, "nonblocking")) << "the gather is not; the exchange behind it blocks";
}

/// Rank 0 and the last rank, in turn; the others have nothing to do.
Plan ping_pong(Rig const& rig, Bytes messages) {
    PlanBuilder builder(rig.me());
    GroupId const all = builder.group(rig.world());
    Rank const last = rig.ranks() - 1;
    MessageWindow const window{.messages = messages, .stride = 0};
    std::vector<StepId> ping;
    if (rig.me() == 0) {
        ping = {builder.send(all, last, 24, 0, -1, "ping", {}, window)};
        builder.recv(all, last, 24, 1, -1, "pong", ping, window);
    } else if (rig.me() == last) {
        ping = {builder.recv(all, 0, 24, 0, -1, "ping", {}, window)};
        builder.send(all, 0, 24, 1, -1, "pong", ping, window);
    }
    return std::move(builder).finish();
}

TEST(MpiBackend, AMessageAloneIsABlockingCallAndAWindowIsNot) {
    Rig rig;
    if (rig.ranks() == 1) {
        GTEST_SKIP() << "needs two ranks";
    }
    for (std::string_view const method : {"default", "blocking", "isend_irecv"}) {
        bool const alone = launch_blocks(rig, ping_pong(rig, 1), method);
        bool const window = launch_blocks(rig, ping_pong(rig, 4), method);
        if (rig.me() == 0 || rig.me() == rig.ranks() - 1) {
            EXPECT_EQ(alone, method != "isend_irecv") << method;
            EXPECT_FALSE(window) << method;
        }
        EXPECT_EQ(rig.run(ping_pong(rig, 1), method), none) << method;
        EXPECT_EQ(rig.run(ping_pong(rig, 4), method), none) << method;
    }
}

// Messages are cut as well, so that several are one step of the tree.
TEST(MpiBackend, AddsInAFixedTree) {
    Rig rig({.chunk_bytes = 1000});
    for (bool const in_place : {false, true}) {
        PlanBuilder builder(rig.me());
        GroupId const group = builder.group(rig.world());
        builder.in_place(in_place);
        StepId const sum = builder.all_reduce(group, 4004, Element::fp32, Reduction::sum, "sum");
        Bytes const parts = 1200 * static_cast<Bytes>(rig.ranks());
        (void)builder.reduce_scatter(group, parts, Element::bf16, Reduction::sum, "parts", {sum});
        EXPECT_EQ(rig.run(std::move(builder).finish(), "reproducible"), none) << in_place;
    }
}

TEST(MpiBackend, CutsABlockWithoutGapOrOverlap) {
    std::vector<std::byte> memory(2500);
    std::vector<NativeMessage> messages;
    append_messages(memory.data(), 2500, 3, true, {.chunk_bytes = 1000}, messages);
    ASSERT_EQ(messages.size(), 3U);
    EXPECT_EQ(messages[0].data, memory.data());
    EXPECT_EQ(messages[1].data, memory.data() + 1000);
    EXPECT_EQ(messages[2].data, memory.data() + 2000);
    EXPECT_EQ(messages[0].bytes, 1000);
    EXPECT_EQ(messages[2].bytes, 500);
    messages.clear();
    append_messages(memory.data(), 2000, 3, true, {.chunk_bytes = 1000}, messages);
    EXPECT_EQ(messages.size(), 2U) << "no empty message after a whole number of chunks";
    messages.clear();
    append_messages(memory.data(), 0, 3, true, {.chunk_bytes = 1000}, messages);
    EXPECT_TRUE(messages.empty());
}

// With a limit of 5000 the counts of 8002 and more, and most displacements, are "beyond int" for this backend.
TEST(MpiBackend, TakesCountsBeyondTheIntLimit) {
    Rig rig({.call_bytes = 5000, .chunk_bytes = 3000});
    Plan const plan = dispatch_and_combine(rig);
    if (rig.ranks() > 1) {
        EXPECT_TRUE(
            requirements_of_all(plan_requirements(plan, read_method({}), {.call_bytes = 5000}), rig.bootstrap()).large);
    }
    EXPECT_FALSE(plan_requirements(plan, read_method({}), {}).large);
    expect_right(rig, plan);
}

// One rank alone is beyond the limit: all have to leave MPI_Alltoallv, or it would wait for that one for ever.
TEST(MpiBackend, AllRanksFollowTheOneWhoseCountsExceedTheLimit) {
    Rig rig({.call_bytes = 5000, .chunk_bytes = 3000});
    PlanBuilder builder(rig.me());
    add_exchange(
        builder, rig.world(), rig.me(),
        [](Rank from, Rank to) { return from == 0 && to == 0 ? Bytes{9000} : Bytes{100}; }, "dispatch");
    expect_right(rig, std::move(builder).finish());
}

TEST(MpiBackend, CutsReductionsAndBroadcastsWithTooManyElements) {
    Rig rig({.call_bytes = 100});
    PlanBuilder builder(rig.me());
    GroupId const all = builder.group(rig.world());
    StepId const sum = builder.all_reduce(all, 4004, Element::int32, Reduction::sum, "sum");
    StepId const max = builder.all_reduce(all, 792, Element::fp64, Reduction::max, "max", {sum});
    StepId const news = builder.broadcast(all, rig.ranks() - 1, 2002, Element::bf16, "news", {max});
    StepId const part = builder.reduce_scatter(all, 400 * static_cast<Bytes>(rig.ranks()), Element::fp32,
                                               Reduction::sum, "scatter", {news});
    builder.reduce(all, rig.ranks() - 1, 2002, Element::bf16, Reduction::max, "reduce", {part});
    EXPECT_EQ(rig.run(std::move(builder).finish(), "default"), none);
}

TEST(MpiBackend, RefusesPartsThatNoCallCanHoldOnEveryRank) {
    Rig rig({.call_bytes = 100});
    auto const refusal = [&](auto const& add) {
        PlanBuilder builder(rig.me());
        add(builder, builder.group(rig.world()));
        Plan const plan = std::move(builder).finish();
        auto const compiled = rig.backend().compile(plan, rig.bind(plan), {});
        return compiled ? "" : compiled.error().reason;
    };
    auto const ranks = static_cast<Bytes>(rig.ranks());
    std::vector<Bytes> parts(ranks, 0);
    parts.back() = 101;
    EXPECT_EQ(refusal([&](PlanBuilder& b, GroupId all) { b.gather(all, 0, 100 * ranks, Element::byte, "gather"); }),
              "");
    EXPECT_EQ(refusal([&](PlanBuilder& b, GroupId all) { b.gather(all, 0, 101 * ranks, Element::byte, "gather"); }),
              "mpi: gather \"gather\": 101 elements per rank in one call, MPI's int ends at 2^31 - 1");
    EXPECT_EQ(
        refusal([&](PlanBuilder& b, GroupId all) { b.scatter(all, 0, SharedBytes(parts), Element::byte, "scatterv"); }),
        "mpi: scatter \"scatterv\": 101 elements in one call, MPI's int ends at 2^31 - 1")
        << "their places are counted in elements from the beginning";
}

TEST(MpiBackend, AStagedChunkTakesAWindowToo) {
    Rig rig;
    auto const refusal = [&](Bytes chunks) {
        PlanBuilder builder(rig.me());
        add_exchange(
            builder, rig.world(), rig.me(), [&](Rank from, Rank to) { return from == to ? 8 : chunks * 4096; },
            "dispatch");
        return plan_requirements(std::move(builder).finish(), read_method(parse_method("staged:by=put:chunk=4K")), {})
            .refusal;
    };
    EXPECT_EQ(refusal(1000), "");
    EXPECT_EQ(refusal(1001).empty(), rig.ranks() == 1);
}

TEST(MpiBackend, SendsAndReceivesOnChannelsInOneWave) {
    Rig rig({.chunk_bytes = 30'000});
    Rank const next = (rig.me() + 1) % rig.ranks();
    Rank const previous = (rig.me() + rig.ranks() - 1) % rig.ranks();
    PlanBuilder builder(rig.me());
    GroupId const all = builder.group(rig.world());
    // The sends of both channels stand before the receives, which are posted in the other order: 100 KB is never eager.
    builder.send(all, next, 100'000, 0, -1, "forward.0");
    builder.send(all, next, 5, 1, -1, "forward.1");
    builder.recv(all, previous, 5, 1, -1, "forward.2");
    StepId const last = builder.recv(all, previous, 100'000, 0, -1, "forward.3");
    builder.send(all, previous, 64, 0, -1, "backward.0", {last});
    builder.recv(all, next, 64, 0, -1, "backward.1", {last});
    Plan const plan = std::move(builder).finish();
    for (std::string_view const method : {"default", "persistent"}) {
        EXPECT_EQ(rig.run(plan, method, 3), none) << method;
    }
}

// Every rank shares one group with the next rank and one with the previous, and lists the next first. Blocking calls
// would wait for each other around the circle.
TEST(MpiBackend, RunsExchangesOfACircleOfGroupsTogether) {
    Rig rig;
    if (rig.ranks() < 3) {
        GTEST_SKIP() << "a circle needs three ranks";
    }
    PlanBuilder builder(rig.me());
    auto const add_pair = [&](Rank first, std::string label) {
        Rank const second = (first + 1) % rig.ranks();
        Bytes const bytes = 20'000 + 1000 * static_cast<Bytes>(first);
        add_exchange(
            builder, Group{{std::min(first, second), std::max(first, second)}}, rig.me(),
            [bytes](Rank, Rank) { return bytes; }, std::move(label));
    };
    add_pair(rig.me(), "next");
    add_pair((rig.me() + rig.ranks() - 1) % rig.ranks(), "previous");
    expect_right(rig, std::move(builder).finish(), is_one_sided);  // Open MPI before 5.0 takes no windows of pairs
}

// Whoever waits in a step has to go on with the others: half of the ranks list them in the other order.
TEST(MpiBackend, RunsGroupsTogetherThatRanksListInDifferentOrders) {
    Rig rig;
    int const half = rig.ranks() / 2;
    Group turned = rig.world();
    std::rotate(turned.members.begin(), turned.members.begin() + half, turned.members.end());
    PlanBuilder builder(rig.me());
    for (bool const in_first : {true, false}) {
        bool const is_turned = in_first == (rig.me() < half);
        Group const& group = is_turned ? turned : rig.world();
        add_exchange(
            builder, group, rig.me(), [](Rank, Rank) { return Bytes{20'000}; }, is_turned ? "turned" : "world");
        builder.all_reduce(builder.group(group), 20'000, Element::fp32, Reduction::sum, is_turned ? "sums" : "sum");
    }
    expect_right(rig, std::move(builder).finish(), waits_for_peers);
}

// Only rank 0 has two collectives in one wave. The other members must make the call that matches its non-blocking one.
TEST(MpiBackend, AllRanksFollowTheOneWhoseCollectivesAreConcurrent) {
    Rig rig;
    PlanBuilder builder(rig.me());
    Group const own{{rig.me()}};
    GroupId const all = builder.group(rig.world());
    builder.all_gather(all, 8 * static_cast<Bytes>(rig.ranks()), Element::int64, "counts");
    if (rig.me() == 0) {
        builder.all_reduce(builder.group(own), 64, Element::fp32, Reduction::sum, "alone");
    }
    EXPECT_EQ(rig.run(std::move(builder).finish(), "default"), none);
}

TEST(MpiBackend, WindowedExchangesOfOneGroupDoNotMixInOneWave) {
    Rig rig({.chunk_bytes = 5000});
    PlanBuilder builder(rig.me());
    add_exchange(
        builder, rig.world(), rig.me(), [](Rank, Rank) { return Bytes{12'000}; }, "a");
    add_exchange(builder, rig.world(), rig.me(), ragged, "b");
    builder.compute(200'000, "think");
    expect_right(rig, std::move(builder).finish(), waits_for_peers, 3);
}

// Open MPI takes equal addresses for MPI_IN_PLACE. The first rank has no block in the second exchange, and receives
// none in the third one.
TEST(MpiBackend, ExchangesThatOverlapSendAndReceiveInOneBuffer) {
    for (CallLimits const& limits : {CallLimits{}, CallLimits{.call_bytes = 5000, .chunk_bytes = 3000}}) {
        SCOPED_TRACE(limits.call_bytes);
        Rig rig(limits);
        PlanBuilder builder(rig.me());
        add_exchange(
            builder, rig.world(), rig.me(), [](Rank from, Rank to) { return ragged(from, to) + 8; }, "a");
        add_exchange(
            builder, rig.world(), rig.me(),
            [](Rank from, Rank to) { return from == 0 || to == 0 ? 0 : static_cast<Bytes>(from) * 8; }, "b");
        add_exchange(
            builder, rig.world(), rig.me(),
            [](Rank from, Rank to) { return to == 0 ? 0 : static_cast<Bytes>(from) * 8 + 8; }, "c");
        expect_right(rig, in_one_buffer(std::move(builder).finish()), waits_for_peers);
    }
}

TEST(MpiBackend, ARankWithoutBlocksWorksInPlaceWhereOthersDo) {
    Rig rig;
    PlanBuilder builder(rig.me());
    GroupId const all = builder.group(rig.world());
    std::vector<Bytes> bytes(static_cast<std::size_t>(rig.ranks()), rig.me() == 0 ? 0 : 72);
    bytes.front() = 0;
    for (std::string const label : {"a", "b"}) {
        if (rig.me() == 0) {
            builder.exchange(all, bytes, bytes, label);
        } else {
            builder.exchange_in_place(all, bytes, label);
        }
    }
    Plan const plan = std::move(builder).finish();
    for (std::string_view const method : {"alltoallv", "nonblocking"}) {
        EXPECT_EQ(rig.run(plan, method), none);
    }
}

// The window of that buffer is made as those of the others, whatever the address of nothing is.
TEST(MpiBackend, ReadsFromOneRankWhileTheOtherOffersABufferOfNothing) {
    Rig rig;
    Rank const last = rig.ranks() - 1;
    if (last == 0) {
        GTEST_SKIP() << "needs two ranks";
    }
    PlanBuilder builder(rig.me());
    GroupId const all = builder.group(rig.world());
    std::vector<PlacedBytes> const page{{64, 4096}};
    if (rig.me() == 0) {
        builder.put(all, {{last, 1}}, page, "page.offer", {}, OperationKind::offer);
        builder.wait_signal(all, {{last, 0}}, {}, 0, "nothing.get", {}, OperationKind::get);
    } else if (rig.me() == last) {
        builder.wait_signal(all, {{0, 1}}, page, 0, "page.get", {}, OperationKind::get);
        builder.put(all, {{0, 0}}, {}, "nothing.offer", {}, OperationKind::offer);
    }
    EXPECT_EQ(rig.run(std::move(builder).finish(), "get"), none);
}

TEST(MpiBackend, EpochsThatWaitForPeersAreForStepsInAChain) {
    Rig rig;
    PlanBuilder builder(rig.me());
    add_exchange(builder, rig.world(), rig.me(), ragged, "a");
    add_exchange(builder, rig.world(), rig.me(), ragged, "b");
    Plan const plan = std::move(builder).finish();
    for (std::string_view const method : {"put:sync=fence", "get:sync=pscw"}) {
        Problems const problems = rig.run(plan, method);
        ASSERT_EQ(problems.size(), 1U);
        EXPECT_NE(problems.front().find("steps overlap"), std::string::npos) << problems.front();
    }
}

TEST(MpiBackend, RunsAnExchangeWithoutBlocksAndAnEmptyPlan) {
    Rig rig;
    PlanBuilder builder(rig.me());
    add_exchange(
        builder, rig.world(), rig.me(), [](Rank, Rank) { return Bytes{0}; }, "nothing");
    expect_right(rig, std::move(builder).finish());
    expect_right(rig, PlanBuilder(rig.me()).finish());
}

TEST(MpiBackend, MakesOneCommunicatorPerGroupWhateverTheNumberOfPlans) {
    Rig rig;
    GroupCommunicators communicators;
    communicators.prepare(dispatch_and_combine(rig));
    MPI_Comm const first = communicators.of(rig.world());
    communicators.prepare(dispatch_and_combine(rig));
    EXPECT_EQ(communicators.of(rig.world()), first);
    EXPECT_NE(first, communicators.world()) << "collectives and plain messages have a communicator each";
}

TEST(MpiBackend, SaysWhatItRanOn) {
    Rig rig;
    Provenance const facts = rig.backend().provenance();
    EXPECT_FALSE(facts.at("mpi_library").empty());
    EXPECT_EQ(facts.at("mpi_counts_above_int").find("MPI_Alltoallv_c") != std::string::npos,
              large_count_calls() != nullptr);
    EXPECT_EQ(facts.at("mpi_standard") >= "4", large_count_calls() != nullptr) << "MPI 4.0 brought MPI_Alltoallv_c";
}

}  // namespace
}  // namespace dlmb::mpi
