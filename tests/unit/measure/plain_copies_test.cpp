// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Copies in place of steps that pack: how many bytes, of which phases. Times are not asserted.
#include "common/bootstrap/in_process/run_ranks.hpp"
#include "common/formats/plan/builder.hpp"
#include "common/measure/buffers/plain_copies.hpp"
#include "common/memory/host_space.hpp"

#include <gtest/gtest.h>

namespace dlmb::measure {
namespace {

/// Rank 1 of two sends itself `rows` rows of 64 bytes, each twice, from a tensor of as many; rank 0 nothing.
Plan plan_of(Rank me, std::uint64_t rows) {
    PlanBuilder builder(me);
    RowOrder sent{rows, {0, 0}, {}, {}};
    RowOrder received{0, {0, 0}, {}, {}};
    for (std::uint64_t row = 0; row < (me == 1 ? 2 * rows : 0); ++row) {
        sent.moves.push_back({.tensor = row / 2, .packed = row});
        received.moves.push_back({.tensor = row, .packed = row});
    }
    sent.rank_rows[1] = sent.moves.size();
    received.rank_rows[1] = received.moves.size();
    received.tensor_rows = received.moves.size();
    builder.rearranged_exchange(builder.group({{0, 1}}), sent, received, 64, Processor::host, "dispatch");
    return std::move(builder).finish();
}

TEST(PlainCopies, HaveTheBytesOfTheBusiestRankAndTheMeanOfTheDraws) {
    in_process::run_ranks(2, [](Bootstrap& bootstrap) {
        HostSpace space;
        std::vector<Plan> const plans{plan_of(bootstrap.rank(), 10), plan_of(bootstrap.rank(), 30)};
        BufferPool const pool(space, buffer_sizes(plans), 2);
        std::vector<std::string> const labels{"pack", "dispatch", "unpack"};
        auto const copies = time_plain_copies(bootstrap, pool.slots(), plans, labels, Processor::host, nullptr);
        ASSERT_EQ(copies.size(), 3U);
        ASSERT_TRUE(copies[0] && copies[2]);
        EXPECT_FALSE(copies[1]);
        EXPECT_EQ(copies[0]->by, Processor::host);
        EXPECT_EQ(copies[0]->bytes, (2 * 10 + 2 * 30) / 2 * 64U);
        EXPECT_EQ(copies[2]->bytes, copies[0]->bytes);
    });
}

TEST(PlainCopies, OfTrafficThatIsNotPackedAreNotMade) {
    in_process::run_ranks(2, [](Bootstrap& bootstrap) {
        HostSpace space;
        std::vector<Plan> const plans{plan_of(0, 0)};
        BufferPool const pool(space, buffer_sizes(plans), 1);
        std::vector<std::string> const labels{"pack", "dispatch", "unpack"};
        for (auto const& copy : time_plain_copies(bootstrap, pool.slots(), plans, labels, Processor::host, nullptr)) {
            EXPECT_FALSE(copy);
        }
    });
}

}  // namespace
}  // namespace dlmb::measure
