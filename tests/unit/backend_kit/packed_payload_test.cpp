// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Faults of packing, of the network and of unpacking are caught and named: of numbers, of rows, and of both.
#include "common/backend_kit/compute.hpp"
#include "common/backend_kit/number_payload.hpp"
#include "common/memory/small_float.hpp"
#include "tests/unit/backend_kit/ranks.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

namespace dlmb::packed_payload_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr std::uint64_t row_numbers = 1001;
constexpr std::uint32_t iteration = 5;
constexpr StepId pack = 0;
constexpr StepId move = 1;
constexpr StepId unpack = 2;

/// Two ranks that pack, exchange and unpack.
class TwoRanks : public testing::Test {
protected:
    using Build = std::function<void(PlanBuilder&, Rank)>;

    /// `build` adds the three steps of a rank; one iteration of them is run.
    void run_both(Build const& build) {
        prepare_both(build);
        for (Rank const rank : {0, 1}) {
            compute(rank, pack);
        }
        exchange();
        for (Rank const rank : {0, 1}) {
            compute(rank, unpack);
        }
    }
    void prepare_both(Build const& build) {
        ranks.emplace(2, build);
        ranks->prepare(iteration);
    }
    void compute(Rank rank, StepId step) {
        HostCompute work(std::get<Compute>(at(rank).plan.steps[step].operation), at(rank).memory.buffers);
        work.start();
        while (!work.test()) {
        }
    }
    void exchange() { ranks->exchange(move); }
    std::vector<std::string> verify(Rank rank) { return ranks->verify(rank, iteration); }
    test::Ranks::Endpoint& at(Rank rank) { return ranks->at(rank); }
    Conversion const& conversion(Rank rank, StepId step) {
        return *std::get<Compute>(at(rank).plan.steps[step].operation).conversion;
    }

    std::optional<test::Ranks> ranks;
};

class PackedPayload : public TwoRanks {
protected:
    PackedPayload() { run({Code::int4, 32, ScaleType::fp32}, Element::bf16); }

    /// Both ranks send each other three rows, and keep two.
    void run(BlockFormat const& format, Element element) {
        run_both([&](PlanBuilder& builder, Rank me) {
            GroupId const all = builder.group({{0, 1}});
            std::vector<std::uint64_t> rows{3, 3};
            rows[static_cast<std::size_t>(me)] = 2;
            builder.packed_exchange(all, rows, rows, row_numbers, {format, element}, "dispatch");
        });
    }
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
    EXPECT_EQ(at(0).payload.blocks_checked(), 4U);  // two blocks, packed and unpacked
}

/// 64 numbers of a stream.
template <class Load>
std::vector<float> some_numbers(Element element, Load load) {
    std::vector<std::byte> const bytes = NumberPayload{payload_key(0, 1, 2, 3), element}.numbers(5, 64);
    std::vector<float> numbers;
    for (std::size_t at = 0; at < bytes.size(); at += size_of(element)) {
        numbers.push_back(load(bytes.data() + at));
    }
    return numbers;
}

/// `number` without the lowest bits of its mantissa.
float cut(float number, unsigned mantissa_bits) {
    return std::bit_cast<float>(std::bit_cast<std::uint32_t>(number) >> (23U - mantissa_bits) << (23U - mantissa_bits));
}

TEST(NumberPayload, HoldsTheSameNumbersInEveryElementCutToItsMantissa) {
    auto const code = [](std::byte const* from) {
        std::uint16_t stored = 0;
        std::memcpy(&stored, from, sizeof stored);
        return stored;
    };
    std::vector<float> const fp32 = some_numbers(Element::fp32, [](std::byte const* from) {
        float number = 0;
        std::memcpy(&number, from, sizeof number);
        return number;
    });
    std::vector<float> const fp16 =
        some_numbers(Element::fp16, [&](std::byte const* from) { return small_float::Fp16::decode(code(from)); });
    std::vector<float> const bf16 =
        some_numbers(Element::bf16, [&](std::byte const* from) { return small_float::Bf16::decode(code(from)); });
    for (std::size_t i = 0; i < fp32.size(); ++i) {
        EXPECT_EQ(fp16[i], cut(fp32[i], 10));
        EXPECT_EQ(bf16[i], cut(fp32[i], 7));
        EXPECT_GE(std::abs(fp32[i]), 0x1p-6F);
        EXPECT_LT(std::abs(fp32[i]), 0x1p2F);
    }
    EXPECT_LT(*std::min_element(fp32.begin(), fp32.end()), -1);
    EXPECT_GT(*std::max_element(fp32.begin(), fp32.end()), 1);
}

TEST_F(PackedPayload, AStepThatPacksNothingIsNamed) {
    auto const& out = conversion(1, pack);
    at(1).payload.prepare(iteration);
    exchange();
    compute(0, unpack);
    EXPECT_THAT(verify(0), testing::Contains(HasSubstr("step 1 \"dispatch\": block from rank 1, codes: byte 0 of")));
    EXPECT_THAT(verify(1), testing::Contains(HasSubstr("what this rank sends")));
    EXPECT_EQ(out.direction, PackDirection::pack);
}

TEST_F(PackedPayload, AWrongCodeAndAWrongScaleAreNamed) {
    Conversion const& in = conversion(0, unpack);
    std::byte* const rows = at(0).memory.buffers.base[in.packed] + in.blocks[1].packed;
    rows[500] ^= std::byte{1};  // the last code of 1001
    Bytes const row = in.format.row_bytes(row_numbers);
    rows[row + in.format.code_bytes(row_numbers)] ^= std::byte{1};  // the first scale of the second row
    EXPECT_THAT(verify(0), ElementsAre(HasSubstr("step 1 \"dispatch\": block from rank 1, codes: byte 500 of")));
    rows[500] ^= std::byte{1};
    EXPECT_THAT(verify(0), ElementsAre(HasSubstr("step 1 \"dispatch\": block from rank 1, scales: byte 1130 of")));
}

TEST_F(PackedPayload, ANumberThatIsNotWhatWasPackedIsNamed) {
    Conversion const& in = conversion(1, unpack);
    at(1).memory.buffers.base[in.numbers][in.blocks[0].numbers + 2 * row_numbers] ^= std::byte{1};
    EXPECT_THAT(verify(1),
                ElementsAre(HasSubstr("step 2 \"unpack.dispatch\": block from rank 0, unpacked: byte 2002 of 6006")));
}

TEST_F(PackedPayload, ABlockFromTheWrongRankIsFound) {
    Conversion const& in = conversion(0, unpack);
    std::byte* const packed = at(0).memory.buffers.base[in.packed];
    std::memcpy(packed + in.blocks[0].packed, packed + in.blocks[1].packed, in.packed_bytes(in.blocks[0]));
    EXPECT_THAT(verify(0), testing::Contains(HasSubstr("step 1 \"dispatch\": block from rank 0")));
}

TEST_F(PackedPayload, BytesBehindTheNumbersAreGuarded) {
    Conversion const& in = conversion(0, unpack);
    RowBlock const& last = in.blocks.back();
    at(0).memory.buffers.base[in.numbers][last.numbers + in.number_bytes(last)] ^= std::byte{1};
    EXPECT_THAT(verify(0),
                ElementsAre("step 2 \"unpack.dispatch\": 1 byte behind the block from rank 1 was overwritten"));
}

TEST_F(PackedPayload, NumbersThatWereChangedAfterPackingAreNamed) {
    Conversion const& out = conversion(0, pack);
    at(0).memory.buffers.base[out.numbers][out.blocks[0].numbers] ^= std::byte{1};
    EXPECT_THAT(verify(0), ElementsAre(HasSubstr("step 0 \"pack.dispatch\": what this rank sends: byte 0 of")));
}

// DeepEP's low-latency dispatch casts a token once and sends copies (internode_ll.cu).
TEST(HostConversion, ARowThatGoesToSeveralRanksIsPackedOnceAndCopied) {
    constexpr std::uint64_t numbers = std::uint64_t{16} << 10;  // as many as a piece
    BlockFormat const format{Code::int8, 32, ScaleType::fp32};
    Bytes const packed_row = format.row_bytes(numbers);
    Bytes const number_row = numbers * size_of(Element::fp32);
    Conversion const twice{
        PackDirection::pack, format,   Element::fp32, 0, 1, {{2, numbers, 0, 0}, {1, numbers, 0, 2 * packed_row}},
        Processor::host,     {0, 1, 0}};
    std::vector<std::byte> tensor(2 * number_row);
    std::vector<std::byte> packed(3 * packed_row, std::byte{0xff});
    Buffers buffers;
    buffers.base = {tensor.data(), packed.data()};
    HostConversion conversion(twice, buffers);
    conversion.start();
    EXPECT_FALSE(conversion.advance());
    float const late = 1;  // does not reach the second copy
    std::memcpy(tensor.data(), &late, sizeof late);
    int pieces = 1;
    while (!conversion.advance()) {
        ++pieces;
    }
    EXPECT_LE(pieces, 3);
    auto const row = [&](std::size_t index) {
        auto const begin = packed.begin() + static_cast<std::ptrdiff_t>(index * packed_row);
        return std::vector<std::byte>(begin, begin + static_cast<std::ptrdiff_t>(packed_row));
    };
    EXPECT_EQ(row(0), row(1)) << "both were zeros";
    EXPECT_EQ(row(0), row(2)) << "copied";
    EXPECT_EQ(copied_bytes({.conversion = twice}), (2 * number_row + 3 * packed_row) / 2);
}

constexpr Bytes row_bytes = 40;

struct Orders {
    RowOrder sent{3, {2, 2}, {}, {}};
    RowOrder received{4, {2, 2}, {}, {}};
};

/// Both ranks have three rows. Rank r sends rows 0 and 1 to itself and rows 1 and 2 to the other one, which has what
/// arrives in reverse order.
Orders orders_of(Rank me) {
    std::vector<std::uint64_t> const to_self{0, 1};
    std::vector<std::uint64_t> const to_other{1, 2};
    Orders orders;
    for (std::uint64_t row = 0; row < 4; ++row) {
        bool const self = (row < 2) == (me == 0);
        std::uint64_t const token = (self ? to_self : to_other)[row % 2];
        orders.sent.moves.push_back({.tensor = token, .packed = row});
        orders.sent.origins.push_back(token);
        orders.received.moves.push_back({.tensor = 3 - row, .packed = row});
        orders.received.origins.push_back(token);
    }
    return orders;
}

class MovedPayload : public TwoRanks {
protected:
    MovedPayload() {
        run_both([](PlanBuilder& builder, Rank me) {
            Orders const orders = orders_of(me);
            builder.rearranged_exchange(builder.group({{0, 1}}), orders.sent, orders.received, row_bytes,
                                        Processor::host, "dispatch");
        });
    }
    Rearrangement const& rows(Rank rank, StepId step) {
        return *std::get<Compute>(at(rank).plan.steps[step].operation).rearrangement;
    }
    std::byte* from(Rank rank, StepId step, std::size_t row) {
        return at(rank).memory.buffers.base[rows(rank, step).from] + rows(rank, step).runs[row].from;
    }
    std::byte* to(Rank rank, StepId step, std::size_t row) {
        return at(rank).memory.buffers.base[rows(rank, step).to] + rows(rank, step).runs[row].to;
    }
};

TEST_F(MovedPayload, ThereIsNoFaultWhenEveryRowArrived) {
    EXPECT_THAT(verify(0), IsEmpty());
    EXPECT_THAT(verify(1), IsEmpty());
    EXPECT_EQ(at(0).payload.blocks_checked(), 6U) << "of two blocks of neighbouring rows, and of four rows in reverse";
}

TEST_F(MovedPayload, ARowInTheWrongPlaceIsNamed) {
    std::memcpy(to(0, unpack, 1), from(0, unpack, 0), row_bytes);  // and not the second one
    EXPECT_THAT(verify(0), ElementsAre(HasSubstr("step 2 \"unpack.dispatch\": block from rank 0: byte 0 of 40 is")));
}

TEST_F(MovedPayload, ARowOfTheWrongTokenIsNamedAtBothEnds) {
    std::memcpy(to(1, pack, 0), from(1, pack, 2), row_bytes);  // token 0 in place of token 1
    exchange();
    compute(0, unpack);
    EXPECT_THAT(verify(1),
                testing::Contains(HasSubstr("step 1 \"dispatch\": what this rank sends was packed wrongly")));
    EXPECT_THAT(verify(0), testing::Contains(HasSubstr("step 1 \"dispatch\": block from rank 1: byte 0 of")));
}

TEST_F(MovedPayload, AStepThatMovesNothingIsNamed) {
    at(1).payload.prepare(iteration);
    exchange();
    EXPECT_THAT(verify(0), testing::Contains(HasSubstr("step 1 \"dispatch\": block from rank 1: byte 0 of")));
}

TEST_F(MovedPayload, ATokenThatWasChangedAndBytesBehindTheRowsAreNamed) {
    *from(0, pack, 0) ^= std::byte{1};
    *(to(0, unpack, 0) + row_bytes) ^= std::byte{1};  // the last row of the tensor
    EXPECT_THAT(verify(0), testing::UnorderedElementsAre(
                               HasSubstr("step 0 \"pack.dispatch\": what this rank sends was changed: byte 0 of 120"),
                               HasSubstr("1 byte behind the block from rank 0 was overwritten")));
}

/// The same rows, whose numbers the steps that move them also pack.
class MovedNumbers : public TwoRanks {
protected:
    MovedNumbers() {
        run_both([](PlanBuilder& builder, Rank me) {
            Orders const orders = orders_of(me);
            PackedRowShape const row{{{Code::int4, 32, ScaleType::fp32}, Element::bf16}, row_numbers};
            builder.rearranged_exchange(builder.group({{0, 1}}), orders.sent, orders.received, row, Processor::host,
                                        "dispatch");
        });
    }
    std::byte* packed(Rank rank, StepId step, std::size_t row) {
        Conversion const& rows = conversion(rank, step);
        return at(rank).memory.buffers.base[rows.packed] + rows.blocks[row].packed;
    }
    std::byte* numbers(Rank rank, StepId step, std::size_t row) {
        Conversion const& rows = conversion(rank, step);
        return at(rank).memory.buffers.base[rows.numbers] + rows.blocks[row].numbers;
    }
};

TEST_F(MovedNumbers, ThereIsNoFaultWhenEveryRowArrived) {
    EXPECT_THAT(verify(0), IsEmpty());
    EXPECT_THAT(verify(1), IsEmpty());
    EXPECT_EQ(conversion(0, pack).blocks[1].numbers, conversion(0, pack).blocks[2].numbers) << "one row for both ranks";
}

TEST_F(MovedNumbers, ARowOfTheWrongTokenIsNamedAtBothEnds) {
    Bytes const row = conversion(1, pack).format.row_bytes(row_numbers);
    std::memcpy(packed(1, pack, 0), packed(1, pack, 2), row);  // token 0 in place of token 1
    exchange();
    compute(0, unpack);
    EXPECT_THAT(verify(1), testing::Contains(HasSubstr("step 1 \"dispatch\": what this rank sends, codes: byte")));
    EXPECT_THAT(verify(0), testing::Contains(HasSubstr("step 1 \"dispatch\": block from rank 1, codes: byte")));
}

TEST_F(MovedNumbers, ARowInTheWrongPlaceIsNamed) {
    std::memcpy(numbers(0, unpack, 1), numbers(0, unpack, 0), row_numbers * 2);
    EXPECT_THAT(verify(0), testing::Contains(HasSubstr("step 2 \"unpack.dispatch\": block from rank 0, unpacked")));
}

TEST_F(MovedNumbers, ATokenThatWasChangedAndBytesBehindTheRowsAreNamed) {
    *numbers(0, pack, 0) ^= std::byte{1};
    *(numbers(0, unpack, 0) + row_numbers * 2) ^= std::byte{1};  // the last row of the tensor
    EXPECT_THAT(verify(0), testing::UnorderedElementsAre(HasSubstr("step 0 \"pack.dispatch\": what this rank sends"),
                                                         HasSubstr("1 byte behind the block from rank 0")));
}

/// The same rows in one step; the test moves them.
class ScatteredPayload : public TwoRanks {
protected:
    ScatteredPayload() {
        prepare_both([](PlanBuilder& builder, Rank me) {
            Orders const orders = orders_of(me);
            builder.scattered_exchange(builder.group({{0, 1}}), orders.sent, orders.received, row_bytes, "dispatch");
        });
        for (Rank to = 0; to < 2; ++to) {
            for (std::size_t row = 0; row < 4; ++row) {
                Rank const from = row < 2 ? 0 : 1;  // each block has two rows
                std::memcpy(received(to, row), sent(from, 2 * static_cast<std::size_t>(to) + row % 2), row_bytes);
            }
        }
    }
    Exchange const& step(Rank rank) { return std::get<Exchange>(at(rank).plan.steps[0].operation); }
    std::byte* sent(Rank rank, std::size_t row) {
        return at(rank).memory.buffers.base[step(rank).send_buffer] + step(rank).scattered->sent.places()[row];
    }
    std::byte* received(Rank rank, std::size_t row) {
        return at(rank).memory.buffers.base[step(rank).recv_buffer] + step(rank).scattered->received.places()[row];
    }
};

TEST_F(ScatteredPayload, ThereIsNoFaultWhenEveryRowIsWhereItBelongs) {
    EXPECT_THAT(verify(0), IsEmpty());
    EXPECT_THAT(verify(1), IsEmpty());
    EXPECT_EQ(at(0).payload.blocks_checked(), 4U) << "rows in reverse order do not join";
}

TEST_F(ScatteredPayload, ARowOfTheSamePeerInTheWrongPlaceIsNamed) {
    std::memcpy(received(0, 3), received(0, 2), row_bytes);
    EXPECT_THAT(verify(0), ElementsAre(HasSubstr("step 0 \"dispatch\": block from rank 1: byte 0 of 40 is")));
}

TEST_F(ScatteredPayload, ARowThatIsMissingARowThatWasChangedAndBytesBehindThemAreNamed) {
    std::memset(received(1, 1), 0, row_bytes);
    *sent(1, 0) ^= std::byte{1};
    *(received(1, 0) + row_bytes) ^= std::byte{1};  // the last row of the tensor
    EXPECT_THAT(verify(1), testing::UnorderedElementsAre(HasSubstr("block from rank 0: byte 0 of 40 is"),
                                                         HasSubstr("what this rank sends was changed"),
                                                         HasSubstr("1 byte behind the block")));
}

}  // namespace
}  // namespace dlmb::packed_payload_test
