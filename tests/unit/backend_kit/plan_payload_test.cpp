// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Every fault that a transport can commit is caught and named. No transport here: the test plays the network and copies
// what the plan says, or something else.
#include "common/base/error.hpp"
#include "tests/unit/backend_kit/ranks.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <numeric>

namespace dlmb::plan_payload_test {
namespace {

using test::Ranks;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr Bytes block_bytes = 1001;

/// Three ranks, dispatch and combine, `block_bytes` from everyone to everyone.
void two_exchanges(PlanBuilder& builder, Rank /*me*/) {
    std::vector<Bytes> const bytes(3, block_bytes);
    GroupId const all = builder.group({{0, 1, 2}});
    StepId const dispatch = builder.exchange(all, bytes, bytes, "dispatch");
    builder.exchange(all, bytes, bytes, "combine", {dispatch});
}

class PlanPayloadFault : public testing::Test {
protected:
    PlanPayloadFault() {
        for (std::uint32_t iteration = 0; iteration <= now; ++iteration) {
            ranks.prepare(iteration);
            ranks.exchange(0);
            ranks.exchange(1);
        }
    }
    static constexpr std::uint32_t now = 6;
    Ranks ranks{3, two_exchanges};
};

TEST_F(PlanPayloadFault, ThereIsNoneWhenEverythingArrived) {
    for (Rank rank = 0; rank < 3; ++rank) {
        EXPECT_THAT(ranks.verify(rank, now), IsEmpty());
    }
    EXPECT_EQ(ranks.at(0).payload.blocks_checked(), 6U);  // two exchanges of three blocks
}

TEST_F(PlanPayloadFault, AFlippedByteIsNamedByStepSourceAndOffset) {
    std::byte& victim = ranks.received(1, 2, 0)[777];
    int const right = std::to_integer<int>(victim);
    victim ^= std::byte{1};
    auto const problems = ranks.verify(1, now);
    ASSERT_EQ(problems.size(), 1U);
    char expected[128];
    std::snprintf(expected, sizeof expected,
                  "step 0 \"dispatch\": block from rank 2: byte 777 of 1001 is 0x%02x, expected 0x%02x",
                  static_cast<unsigned>(right ^ 1), static_cast<unsigned>(right));
    EXPECT_EQ(problems[0], expected);
}

TEST_F(PlanPayloadFault, SwappedBlocksAreRecognisedAsEachOther) {
    std::swap_ranges(ranks.received(1, 0, 0), ranks.received(1, 0, 0) + block_bytes, ranks.received(1, 2, 0));
    EXPECT_THAT(ranks.verify(1, now), ElementsAre(testing::AllOf(HasSubstr("block from rank 0: byte 0 "),
                                                                 HasSubstr("; it is the block from rank 2")),
                                                  testing::AllOf(HasSubstr("block from rank 2: byte 0 "),
                                                                 HasSubstr("; it is the block from rank 0"))));
}

TEST_F(PlanPayloadFault, AShortBlockIsNamedAtItsEnd) {
    ranks.prepare(now);
    ranks.exchange(0);
    ranks.exchange(1);
    // All but the last 401 bytes of one block: those are as prepare() left them.
    std::vector<std::byte> const arrived(ranks.received(1, 0, 1), ranks.received(1, 0, 1) + 600);
    ranks.at(1).payload.prepare(now);
    ranks.exchange(0);
    for (Rank const from : {1, 2}) {
        std::memcpy(ranks.received(1, from, 1), ranks.sent(from, 1, 1), block_bytes);
    }
    std::memcpy(ranks.received(1, 0, 1), arrived.data(), arrived.size());
    EXPECT_THAT(ranks.verify(1, now),
                ElementsAre(testing::AllOf(HasSubstr("step 1 \"combine\": block from rank 0: byte 600 of 1001"),
                                           HasSubstr("; nothing was written there"))));
}

TEST_F(PlanPayloadFault, BytesBehindABlockAreCountedAndNamed) {
    std::memset(ranks.received(1, 2, 0) + block_bytes, 0, 8);
    EXPECT_THAT(ranks.verify(1, now),
                ElementsAre("step 0 \"dispatch\": 8 bytes behind the block from rank 2 were overwritten"));
}

TEST_F(PlanPayloadFault, BytesInFrontOfTheFirstBlockAreNamed) {
    ranks.received(1, 0, 0)[-1] ^= std::byte{0xFF};
    EXPECT_THAT(ranks.verify(1, now),
                ElementsAre("step 0 \"dispatch\": 1 byte in front of the block from rank 0 was overwritten"));
}

TEST_F(PlanPayloadFault, AByteFurtherBehindIsNamedWithItsDistance) {
    ranks.received(1, 2, 0)[block_bytes + 30] ^= std::byte{1};
    EXPECT_THAT(ranks.verify(1, now),
                ElementsAre("step 0 \"dispatch\": 1 byte from 30 B behind the block from rank 2 was overwritten"));
}

TEST_F(PlanPayloadFault, AStaleIterationIsNamed) {
    EXPECT_THAT(ranks.verify(0, now + 1), testing::Each(HasSubstr("; it is the payload of iteration 6")));
    EXPECT_EQ(ranks.verify(0, now + 1).size(), PlanPayload::problem_limit);
}

TEST_F(PlanPayloadFault, ABlockOfAnotherStepIsNamed) {
    std::memcpy(ranks.received(1, 0, 0), ranks.sent(0, 1, 1), block_bytes);
    EXPECT_THAT(ranks.verify(1, now), ElementsAre(HasSubstr("; it is the block of step 1 \"combine\"")));
}

TEST_F(PlanPayloadFault, ABlockMeantForAnotherRankIsNamed) {
    std::memcpy(ranks.received(1, 0, 0), ranks.sent(0, 2, 0), block_bytes);
    EXPECT_THAT(ranks.verify(1, now), ElementsAre(HasSubstr("; it is what rank 0 sends to rank 2")));
}

TEST_F(PlanPayloadFault, NothingThatArrivedIsNamedForEveryBlock) {
    ranks.prepare(now);
    EXPECT_THAT(ranks.verify(1, now), testing::Each(HasSubstr("byte 0 of 1001")));
    EXPECT_THAT(ranks.verify(1, now), testing::Each(HasSubstr("; nothing was written there")));
}

TEST(PlanPayload, ChecksTheSmallestBlocksAndTheGapsBetweenThem) {
    for (Bytes const bytes : std::vector<Bytes>{1, 2, 3, 7, 9, 63, 64, 65}) {
        Ranks ranks(1, [bytes](PlanBuilder& builder, Rank) {
            builder.exchange(builder.group({{0}}), std::vector<Bytes>{bytes}, std::vector<Bytes>{bytes}, "self");
        });
        for (Bytes wrong = 0; wrong < ranks.at(0).plan.buffers[1].bytes; ++wrong) {
            ranks.prepare(0);
            ranks.exchange(0);
            ASSERT_THAT(ranks.verify(0, 0), IsEmpty()) << bytes;
            *ranks.at(0, 1, wrong) ^= std::byte{0x80};
            EXPECT_EQ(ranks.verify(0, 0).size(), 1U) << "byte " << wrong << " of the buffer, block of " << bytes;
        }
    }
}

/// Delivers what rank 0 sends to rank 1, message by message from the last on.
void deliver_window(Ranks& ranks, MessageWindow const& window, Bytes bytes) {
    auto const& send = std::get<Send>(ranks.at(0).plan.steps[0].operation);
    auto const& recv = std::get<Recv>(ranks.at(1).plan.steps[0].operation);
    for (Bytes message = window.messages; message-- > 0;) {
        std::memcpy(ranks.at(1, recv.buffer, recv.from.offset + message * window.stride),
                    ranks.at(0, send.buffer, send.to.offset + message * window.stride), bytes);
    }
}

Ranks window_of(MessageWindow const& window, Bytes bytes) {
    return {2, [&](PlanBuilder& builder, Rank me) {
                GroupId const pair = builder.group({{0, 1}});
                me == 0 ? builder.send(pair, 1, bytes, 0, -1, "w", {}, window)
                        : builder.recv(pair, 0, bytes, 0, -1, "w", {}, window);
            }};
}

TEST(PlanPayload, MessagesOfAWindowInOnePlaceCarryOnePayload) {
    Ranks ranks = window_of({5, 0}, 21);
    ranks.prepare(3);
    deliver_window(ranks, {5, 0}, 21);
    EXPECT_THAT(ranks.verify(1, 3), IsEmpty());
    *ranks.at(1, 0, std::get<Recv>(ranks.at(1).plan.steps[0].operation).from.offset + 20) ^= std::byte{1};
    EXPECT_EQ(ranks.verify(1, 3).size(), 1U);
}

TEST(PlanPayload, MessagesOfAWindowInPlacesOfTheirOwnHavePayloadsOfTheirOwn) {
    MessageWindow const window{5, 24};
    Ranks ranks = window_of(window, 21);
    ranks.prepare(3);
    deliver_window(ranks, window, 21);
    EXPECT_THAT(ranks.verify(1, 3), IsEmpty());
    Bytes const begin = std::get<Recv>(ranks.at(1).plan.steps[0].operation).from.offset;
    std::swap_ranges(ranks.at(1, 0, begin + 24), ranks.at(1, 0, begin + 24) + 21, ranks.at(1, 0, begin + 72));
    EXPECT_EQ(ranks.verify(1, 3).size(), 2U) << "two messages changed places";
    ranks.prepare(4);
    EXPECT_EQ(ranks.verify(1, 4).size(), PlanPayload::problem_limit) << "nothing arrived";
    deliver_window(ranks, window, 21);
    *ranks.at(1, 0, begin + 24 + 22) ^= std::byte{1};
    EXPECT_THAT(ranks.verify(1, 4), ElementsAre(HasSubstr("1 byte from 1 B behind the block from rank 0")));
}

TEST(PlanPayload, ABufferThatNothingIsDeliveredToMustStayUntouched) {
    Ranks ranks(1, [](PlanBuilder& builder, Rank) {
        builder.exchange(builder.group({{0, 1}}), std::vector<Bytes>{0, 0}, std::vector<Bytes>{0, 0}, "nothing");
    });
    ASSERT_GT(ranks.at(0).plan.buffers[1].bytes, 5U);
    ranks.prepare(0);
    EXPECT_THAT(ranks.verify(0, 0), IsEmpty());
    *ranks.at(0, 1, 5) ^= std::byte{1};
    EXPECT_THAT(
        ranks.verify(0, 0),
        ElementsAre("buffer \"nothing.recv\": 1 byte at offset 5 was overwritten, though nothing is delivered there"));
}

/// Three ranks, one allreduce of `count` elements; `result` is where rank 1 has its own.
Ranks reduction(Element element, std::uint64_t count) {
    return {3, [&](PlanBuilder& builder, Rank) {
                builder.all_reduce(builder.group({{0, 1, 2}}), count * size_of(element), element, Reduction::sum,
                                   "gradients");
            }};
}

std::byte* result_of_rank_1(Ranks& ranks) {
    auto const& reduce = std::get<Collective>(ranks.at(1).plan.steps[0].operation);
    return ranks.at(1, reduce.recv.buffer, reduce.recv.offset);
}

float input(Ranks& ranks, Rank rank, std::size_t element) {
    float value = 0;
    std::memcpy(&value, ranks.at(rank, 0, element * sizeof value), sizeof value);
    return value;
}

/// Writes sum over `members` to the result of rank 1.
void add_up(Ranks& ranks, std::size_t count, std::vector<Rank> const& members) {
    for (std::size_t element = 0; element < count; ++element) {
        float const sum = std::accumulate(members.begin(), members.end(), 0.0F, [&](float so_far, Rank rank) {
            return so_far + input(ranks, rank, element);
        });
        std::memcpy(result_of_rank_1(ranks) + element * sizeof sum, &sum, sizeof sum);
    }
}

TEST(PlanPayloadReduction, TheSumOfAllInputsIsRightAndOtherSumsAreNamed) {
    constexpr std::size_t count = 40'000;  // more than one chunk of the check
    Ranks ranks = reduction(Element::fp32, count);
    ranks.prepare(4);
    add_up(ranks, count, {0, 1, 2});
    EXPECT_THAT(ranks.verify(1, 4), IsEmpty());

    EXPECT_THAT(ranks.verify(1, 5), ElementsAre(HasSubstr("; it is the result of iteration 4"),
                                                HasSubstr("what this rank sends was changed from element 0 on")));
    add_up(ranks, count, {0, 1});
    EXPECT_THAT(ranks.verify(1, 4), ElementsAre(testing::AllOf(HasSubstr("step 0 \"gradients\": result: byte "),
                                                               HasSubstr("; the contribution of rank 2 is missing"))));
    add_up(ranks, count, {1});
    EXPECT_THAT(ranks.verify(1, 4), ElementsAre(HasSubstr("; it is what rank 1 put in")));
}

TEST(PlanPayloadReduction, SumsInPlaceThatWereSummedUpAgainUnforeseenAreLeftOutAndCounted) {
    Ranks ranks(1, [](PlanBuilder& builder, Rank) {
        builder.in_place(true);
        builder.all_reduce(builder.group({{0, 1}}), 64, Element::fp32, Reduction::sum, "gradients");
    });
    ranks.prepare(0);
    EXPECT_FALSE(ranks.at(0).payload.verify(0).empty()) << "nothing was summed up";
    EXPECT_EQ(ranks.at(0).payload.blocks_skipped(), 0U);
    EXPECT_THAT(ranks.at(0).payload.verify(0, {.repeated = true}), IsEmpty());
    EXPECT_EQ(ranks.at(0).payload.blocks_skipped(), 1U);
}

TEST(PlanPayload, AnExchangeInPlaceReplacesWhatIsSentAndIsLeftOutWhereItWasMadeAgain) {
    constexpr Bytes bytes = 100;
    Ranks ranks(2, [](PlanBuilder& builder, Rank) {
        builder.exchange_in_place(builder.group({{0, 1}}), std::vector<Bytes>{bytes, bytes}, "swap");
    });
    auto const block = [&](Rank rank) {
        auto const& exchange = std::get<Exchange>(ranks.at(rank).plan.steps.front().operation);
        return ranks.at(rank, exchange.recv_buffer, exchange.recv.at(rank == 0 ? 1 : 0).offset);
    };
    ranks.prepare(3);
    EXPECT_THAT(ranks.verify(0, 3), ElementsAre(HasSubstr("block from rank 1"))) << "nothing was exchanged";
    std::swap_ranges(block(0), block(0) + bytes, block(1));
    for (Rank const rank : {0, 1}) {
        EXPECT_THAT(ranks.verify(rank, 3), IsEmpty());
    }
    *block(1) ^= std::byte{1};
    EXPECT_THAT(ranks.verify(1, 3), ElementsAre(HasSubstr("block from rank 0")));
    EXPECT_THAT(ranks.at(1).payload.verify(3, {.repeated = true}), IsEmpty());
    EXPECT_EQ(ranks.at(1).payload.blocks_skipped(), 2U);
}

TEST(PlanPayloadReduction, AWrongElementIsNamedInAnyChunk) {
    constexpr std::size_t count = 40'000;
    for (std::size_t const element : {std::size_t{0}, std::size_t{16383}, std::size_t{16384}, count - 1}) {
        Ranks ranks = reduction(Element::fp32, count);
        ranks.prepare(0);
        add_up(ranks, count, {0, 1, 2});
        result_of_rank_1(ranks)[element * 4 + 3] ^= std::byte{0x80};
        EXPECT_THAT(ranks.verify(1, 0), ElementsAre(HasSubstr("(element " + std::to_string(element) + " of fp32)")));
    }
}

/// Test double of a device's memory: host memory that counts what is asked of it.
class CountedDevice final : public MemorySpace {
public:
    [[nodiscard]] MemoryKind kind() const override { return MemoryKind::cuda; }
    [[nodiscard]] Allocation allocate(Bytes bytes) override { return host_.allocate(bytes); }
    void fill(std::byte* data, Bytes bytes, PayloadKey key, Bytes start) override {
        ++requests;
        host_.fill(data, bytes, key, start);
    }
    [[nodiscard]] std::optional<Mismatch> check(std::byte const* data, Bytes bytes, PayloadKey key,
                                                Bytes start) override {
        ++requests;
        return host_.check(data, bytes, key, start);
    }
    void copy_in(std::byte* to, std::byte const* from_host, Bytes bytes) override {
        ++requests;
        host_.copy_in(to, from_host, bytes);
    }
    void copy_out(std::byte* to_host, std::byte const* from, Bytes bytes) override {
        ++requests;
        host_.copy_out(to_host, from, bytes);
    }

    int requests = 0;

private:
    HostSpace host_;
};

/// An exchange of this many blocks of 24 bytes with itself, which the test delivers.
struct BlocksOnDevice {
    explicit BlocksOnDevice(std::size_t blocks) {
        PlanBuilder builder(0);
        std::vector<Bytes> const bytes(blocks, 24);
        builder.exchange(builder.group(world_of(static_cast<int>(blocks))), bytes, bytes, "x");
        plan = std::move(builder).finish();
        memory.emplace(device, plan);
    }
    [[nodiscard]] std::byte* block(BufferId buffer, std::vector<Block> const& blocks, std::size_t index) const {
        return memory->buffers.base[buffer] + blocks[index].offset;
    }

    CountedDevice device;
    Plan plan;
    std::optional<PlanMemory> memory;
};

TEST(PlanPayload, ManySmallBlocksOnADeviceAreReadAndWrittenByOneTransferOfTheirBuffer) {
    constexpr std::size_t many = 64;
    BlocksOnDevice blocks(many);
    PlanPayload payload(blocks.device, blocks.memory->buffers, blocks.plan);
    blocks.device.requests = 0;
    payload.prepare(0);
    EXPECT_EQ(blocks.device.requests, 4) << "two buffers there and back";
    auto const& exchange = std::get<Exchange>(blocks.plan.steps[0].operation);
    EXPECT_EQ(payload.verify(0).size(), PlanPayload::problem_limit) << "nothing arrived";
    std::memcpy(blocks.block(exchange.recv_buffer, exchange.recv, 0),
                blocks.block(exchange.send_buffer, exchange.send, 0), 24);
    EXPECT_THAT(payload.verify(0), testing::Not(testing::Contains(HasSubstr("block from rank 0:"))));
    *blocks.block(exchange.send_buffer, exchange.send, many - 1) ^= std::byte{1};
    blocks.device.requests = 0;
    auto const problems = payload.verify(0);
    EXPECT_EQ(blocks.device.requests, 2);
    EXPECT_THAT(problems, testing::Contains(HasSubstr("block from rank 1:")));
}

TEST(PlanPayload, RefusesPlansWhoseBuffersAreNotBound) {
    HostSpace space;
    Buffers const none;
    Ranks ranks(3, two_exchanges);
    EXPECT_THROW(PlanPayload(space, none, ranks.at(0).plan), Error);
}

}  // namespace
}  // namespace dlmb::plan_payload_test
