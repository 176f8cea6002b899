// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/base/error.hpp"
#include "common/tuning/size_basis.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace dlmb::tuning {
namespace {

std::vector<std::uint64_t> const rank_counts{1, 2, 3, 4, 7, 8, 64};

TEST(SizeBasis, HoldsASizePerRankExactlyWhenItsWholeIsInTheNativeInterval) {
    ByteInterval const native{13, 200};
    for (std::uint64_t const n : rank_counts) {
        auto const each = per_rank(native, n);
        for (Bytes bytes = 0; bytes <= 250; ++bytes) {
            EXPECT_EQ(each && each->contains(bytes), native.contains(bytes * n)) << bytes << " B on each of " << n;
        }
    }
}

TEST(SizeBasis, HasNoSizePerRankWhereNoMultipleOfTheRanksLies) {
    EXPECT_EQ(per_rank({9, 11}, 4), std::nullopt);
    EXPECT_EQ(per_rank({9, 12}, 4), (ByteInterval{3, 3}));
}

TEST(SizeBasis, ComesBackFromSizesPerRankToTheMultiplesInTheInterval) {
    for (std::uint64_t const n : rank_counts) {
        ByteInterval const each{3, 29};
        EXPECT_EQ(from_per_rank(each, n), (ByteInterval{3 * n, 29 * n}));
        EXPECT_EQ(per_rank(*from_per_rank(each, n), n), each) << n;
    }
}

TEST(SizeBasis, SaysThatAWholeAbove64BitsIsWithoutLimitOrNotThere) {
    EXPECT_EQ(from_per_rank({1, no_limit / 4 + 1}, 4), (ByteInterval{4, no_limit}));
    EXPECT_EQ(from_per_rank({no_limit / 4 + 1, no_limit}, 4), std::nullopt);
    EXPECT_EQ(from_per_rank({1, no_limit / 4}, 4), (ByteInterval{4, no_limit - 3}));  // 2^64 - 4
    EXPECT_EQ(per_rank({0, no_limit}, 1), (ByteInterval{0, no_limit}));
}

TEST(SizeBasis, EndsOneAfterTheLastSizeUnlessThatNeeds65Bits) {
    EXPECT_EQ(end_of({0, 65536}), 65537);
    EXPECT_EQ(end_of({0, no_limit - 1}), no_limit);
    EXPECT_EQ(end_of({0, no_limit}), std::nullopt);
}

TEST(SizeBasis, RefusesZeroRanks) {
    EXPECT_THROW((void)per_rank({0, 1}, 0), UsageError);
    EXPECT_THROW((void)to_unit(SizeUnit::native, {0, 1}, 0), UsageError);
}

struct Cell {
    TunedOperation operation;
    bool uniform;
    SizeUnit nccl, ncclx, open_mpi, mpich_average, mpich_total, ucc;
};

TEST(SizeBasis, IsWhatEachConsumerCompares) {
    using enum TunedOperation;
    using enum SizeUnit;
    // From the decision functions named in size_basis.hpp.
    std::vector<Cell> const table{
        {allreduce, false, native, per_rank, native, native, all_ranks, native},
        {broadcast, false, native, per_rank, native, native, never, native},
        {allgather, false, native, per_rank, native, never, native, native},
        {reduce_scatter, false, native, per_rank, native, never, native, per_rank},
        {exchange, true, never, never, native, per_rank, native, native},
        {exchange, false, never, never, ignored, never, never, ignored},
        {sendrecv, false, never, never, never, never, never, never},
    };
    for (Cell const& cell : table) {
        auto const unit = [&](SizeConsumer consumer) { return unit_of(consumer, cell.operation, cell.uniform); };
        EXPECT_EQ(unit(SizeConsumer::nccl), cell.nccl) << name_of(cell.operation);
        EXPECT_EQ(unit(SizeConsumer::ncclx), cell.ncclx) << name_of(cell.operation);
        EXPECT_EQ(unit(SizeConsumer::open_mpi), cell.open_mpi) << name_of(cell.operation);
        EXPECT_EQ(unit(SizeConsumer::mpich_average), cell.mpich_average) << name_of(cell.operation);
        EXPECT_EQ(unit(SizeConsumer::mpich_total), cell.mpich_total) << name_of(cell.operation);
        EXPECT_EQ(unit(SizeConsumer::ucc), cell.ucc) << name_of(cell.operation);
    }
}

TEST(SizeBasis, GoesToAUnitAndBackWithoutLosingARepresentableSize) {
    for (std::uint64_t const n : rank_counts) {
        ByteInterval const native{64 * n, 4096 * n};
        for (SizeUnit const unit : {SizeUnit::native, SizeUnit::per_rank, SizeUnit::all_ranks}) {
            EXPECT_EQ(from_unit(unit, *to_unit(unit, native, n), n), native) << n;
        }
    }
    EXPECT_EQ(to_unit(SizeUnit::ignored, {0, 1}, 2), std::nullopt);
    EXPECT_EQ(to_unit(SizeUnit::never, {0, 1}, 2), std::nullopt);
}

}  // namespace
}  // namespace dlmb::tuning
