// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Faults of packing, of the network and of unpacking are caught and named. The test plays the network between two
// ranks.
#include "common/backend_kit/compute.hpp"
#include "common/backend_kit/plan_payload.hpp"
#include "common/memory/host_space.hpp"
#include "common/plan/builder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <deque>

namespace dlmb {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr std::uint32_t iteration = 5;
constexpr std::uint64_t row_numbers = 1001;
constexpr StepId pack = 0;
constexpr StepId move = 1;
constexpr StepId unpack = 2;

class PackedPayload : public testing::Test {
protected:
    PackedPayload() { run({Code::int4, 32, ScaleType::fp32}, Element::bf16); }

    /// Both ranks send each other three rows, and keep two.
    void run(BlockFormat const& format, Element element) {
        ranks.clear();
        for (Rank me = 0; me < 2; ++me) {
            PlanBuilder builder(me);
            GroupId const all = builder.group({{0, 1}});
            std::vector<std::uint64_t> rows{3, 3};
            rows[static_cast<std::size_t>(me)] = 2;
            builder.packed_exchange(all, rows, rows, row_numbers, {format, element}, "dispatch");
            Endpoint& rank = ranks.emplace_back();
            rank.plan = std::move(builder).finish();
            for (Buffer const& buffer : rank.plan.buffers) {
                rank.memory.push_back(space.allocate(buffer.bytes));
                rank.buffers.base.push_back(rank.memory.back().data());
            }
            rank.payload.emplace(space, rank.buffers, rank.plan);
            rank.payload->prepare(iteration);
        }
        for (Rank const rank : {0, 1}) {
            compute(rank, pack);
        }
        exchange();
        for (Rank const rank : {0, 1}) {
            compute(rank, unpack);
        }
    }
    void compute(Rank rank, StepId step) {
        HostCompute work(std::get<Compute>(at(rank).plan.steps[step].operation), at(rank).buffers);
        work.start();
        while (!work.test()) {
        }
    }
    void exchange() {
        for (Rank to = 0; to < 2; ++to) {
            for (Rank from = 0; from < 2; ++from) {
                auto const& out = std::get<Exchange>(at(from).plan.steps[move].operation);
                auto const& in = std::get<Exchange>(at(to).plan.steps[move].operation);
                Block const& sent = out.send[static_cast<std::size_t>(to)];
                Block const& received = in.recv[static_cast<std::size_t>(from)];
                std::memcpy(at(to).buffers.base[in.recv_buffer] + received.offset,
                            at(from).buffers.base[out.send_buffer] + sent.offset, sent.bytes);
            }
        }
    }
    Conversion const& conversion(Rank rank, StepId step) {
        return *std::get<Compute>(at(rank).plan.steps[step].operation).conversion;
    }
    std::vector<std::string> verify(Rank rank) { return at(rank).payload->verify(iteration); }

    struct Endpoint {
        Plan plan;
        std::vector<Allocation> memory;
        Buffers buffers;
        std::optional<PlanPayload> payload;
    };
    Endpoint& at(Rank rank) { return ranks[static_cast<std::size_t>(rank)]; }

    HostSpace space;
    std::deque<Endpoint> ranks;  // payloads refer to them
};

TEST_F(PackedPayload, ThereIsNoFaultWhenEverythingArrivedInAnyFormat) {
    for (Code const code : {Code::int4, Code::int8, Code::fp4, Code::fp8, Code::fp8_e5m2}) {
        for (ScaleType const scale : {ScaleType::fp32, ScaleType::e8m0}) {
            for (Element const element : {Element::bf16, Element::fp16, Element::fp32}) {
                run({code, 128, scale}, element);
                EXPECT_THAT(verify(0), IsEmpty()) << name_of(code) << " " << name_of(element);
                EXPECT_THAT(verify(1), IsEmpty()) << name_of(code) << " " << name_of(element);
            }
        }
    }
    EXPECT_EQ(at(0).payload->blocks_checked(), 4U);  // two blocks, packed and unpacked
}

TEST_F(PackedPayload, AStepThatPacksNothingIsNamed) {
    auto const& out = conversion(1, pack);
    at(1).payload->prepare(iteration);
    exchange();
    compute(0, unpack);
    EXPECT_THAT(verify(0), testing::Contains(HasSubstr("step 1 \"dispatch\": block from rank 1, codes: byte 0 of")));
    EXPECT_THAT(verify(1), testing::Contains(HasSubstr("what this rank sends")));
    EXPECT_EQ(out.direction, PackDirection::pack);
}

TEST_F(PackedPayload, AWrongCodeAndAWrongScaleAreNamed) {
    Conversion const& in = conversion(0, unpack);
    std::byte* const rows = at(0).buffers.base[in.packed] + in.blocks[1].packed;
    rows[500] ^= std::byte{1};  // the last code of 1001
    Bytes const row = in.format.row_bytes(row_numbers);
    rows[row + in.format.code_bytes(row_numbers)] ^= std::byte{1};  // the first scale of the second row
    EXPECT_THAT(verify(0), ElementsAre(HasSubstr("step 1 \"dispatch\": block from rank 1, codes: byte 500 of")));
    rows[500] ^= std::byte{1};
    EXPECT_THAT(verify(0), ElementsAre(HasSubstr("step 1 \"dispatch\": block from rank 1, scales: byte 1130 of")));
}

TEST_F(PackedPayload, ANumberThatIsNotWhatWasPackedIsNamed) {
    Conversion const& in = conversion(1, unpack);
    at(1).buffers.base[in.numbers][in.blocks[0].numbers + 2 * row_numbers] ^= std::byte{1};
    EXPECT_THAT(verify(1),
                ElementsAre(HasSubstr("step 2 \"unpack.dispatch\": block from rank 0, unpacked: byte 2002 of 6006")));
}

TEST_F(PackedPayload, ABlockFromTheWrongRankIsFound) {
    Conversion const& in = conversion(0, unpack);
    std::byte* const packed = at(0).buffers.base[in.packed];
    std::memcpy(packed + in.blocks[0].packed, packed + in.blocks[1].packed, in.packed_bytes(in.blocks[0]));
    EXPECT_THAT(verify(0), testing::Contains(HasSubstr("step 1 \"dispatch\": block from rank 0")));
}

TEST_F(PackedPayload, BytesBehindTheNumbersAreGuarded) {
    Conversion const& in = conversion(0, unpack);
    RowBlock const& last = in.blocks.back();
    at(0).buffers.base[in.numbers][last.numbers + in.number_bytes(last)] ^= std::byte{1};
    EXPECT_THAT(verify(0),
                ElementsAre("step 2 \"unpack.dispatch\": 1 byte behind the block from rank 1 was overwritten"));
}

TEST_F(PackedPayload, NumbersThatWereChangedAfterPackingAreNamed) {
    Conversion const& out = conversion(0, pack);
    at(0).buffers.base[out.numbers][out.blocks[0].numbers] ^= std::byte{1};
    EXPECT_THAT(verify(0), ElementsAre(HasSubstr("step 0 \"pack.dispatch\": what this rank sends: byte 0 of")));
}

}  // namespace
}  // namespace dlmb
