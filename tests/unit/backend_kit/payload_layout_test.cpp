// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/backend_kit/payload_layout.hpp"
#include "common/base/error.hpp"
#include "common/memory/payload.hpp"

#include <gtest/gtest.h>

namespace dlmb::payload_layout_test {
namespace {

/// One group of four, rank 1, one buffer of 100 B and one of 60 B.
Plan plan_with(std::vector<Step> steps) {
    return {.me = 1, .groups = {{{0, 1, 2, 3}}}, .buffers = {{"a", 100}, {"b", 60}}, .steps = std::move(steps)};
}

/// Every byte of a guarded buffer is delivered, sent or in a gap, once.
Bytes covered(PayloadLayout const& layout, BufferId buffer) {
    Bytes bytes = 0;
    for (Piece const& piece : layout.delivered) {
        bytes += piece.buffer == buffer ? piece.bytes : 0;
    }
    for (Gap const& gap : layout.gaps) {
        bytes += gap.buffer == buffer ? gap.bytes : 0;
    }
    return bytes;
}

TEST(PayloadLayout, GapsAreWhatNoBlockCovers) {
    Exchange const exchange{0, 0, 1, {{0, 0, 10}, {2, 10, 20}}, {{0, 3, 5}, {1, 8, 2}, {3, 30, 30}}};
    PayloadLayout const layout = payload_layout(plan_with({{exchange, {}, "x"}}));
    ASSERT_EQ(layout.gaps.size(), 2U);  // 0..3 and 10..30; the last block ends with the buffer
    EXPECT_EQ(layout.gaps[0].bytes, 3U);
    EXPECT_EQ(layout.gaps[0].before, nullptr);
    EXPECT_EQ(layout.gaps[0].behind->source, 0);
    EXPECT_EQ(layout.gaps[1].offset, 10U);
    EXPECT_EQ(layout.gaps[1].bytes, 20U);
    EXPECT_EQ(layout.gaps[1].before->source, 1);
    EXPECT_EQ(layout.gaps[1].behind->source, 3);
    EXPECT_EQ(covered(layout, 1), 60U);
    EXPECT_EQ(layout.sent.size(), 2U);
    EXPECT_EQ(layout.guarded, std::vector<BufferId>{1});
}

TEST(PayloadLayout, AnEmptyExchangeGuardsItsWholeReceiveBuffer) {
    PayloadLayout const layout = payload_layout(plan_with({{Exchange{0, 0, 1, {}, {}}, {}, "x"}}));
    ASSERT_EQ(layout.gaps.size(), 1U);
    EXPECT_EQ(layout.gaps[0].bytes, 60U);
}

TEST(PayloadLayout, AllGatherDeliversOneBlockPerMember) {
    PayloadLayout const layout = payload_layout(
        plan_with({{Collective{OperationKind::all_gather, 0, 0, {0, 0}, {1, 4}, 40, Element::byte}, {}, "g"}}));
    ASSERT_EQ(layout.delivered.size(), 4U);
    EXPECT_EQ(layout.delivered[3].source, 3);
    EXPECT_EQ(layout.delivered[3].offset, 34U);
    EXPECT_EQ(layout.delivered[3].destination, every_rank);
    EXPECT_EQ(covered(layout, 1), 60U);
}

TEST(PayloadLayout, ReduceScatterKnowsWhichElementsArrive) {
    PayloadLayout const layout = payload_layout(
        plan_with({{Collective{OperationKind::reduce_scatter, 0, 0, {0, 0}, {1, 0}, 96, Element::fp32}, {}, "r"}}));
    ASSERT_EQ(layout.delivered.size(), 1U);
    EXPECT_EQ(layout.delivered[0].bytes, 24U);
    EXPECT_EQ(layout.delivered[0].first_element, 6U);  // rank 1 of 4, 24 elements
}

TEST(PayloadLayout, CollectivesMayWorkInPlace) {
    Collective const in_place{OperationKind::all_reduce, 0, 0, {0, 0}, {0, 0}, 64, Element::fp32};
    EXPECT_NO_THROW(static_cast<void>(payload_layout(plan_with({{in_place, {}, "r"}}))));
}

TEST(PayloadLayout, ARegionThatWouldNeedTwoPayloadsIsRefused) {
    Step const receive{Recv{0, 0, {0, 0, 50}, 0, -1}, {}, "in"};
    Step const forward{Send{0, 0, {2, 40, 20}, 0, -1}, {0}, "on"};
    EXPECT_THROW(static_cast<void>(payload_layout(plan_with({receive, forward}))), Error);
    Step const apart{Send{0, 0, {2, 50, 20}, 0, -1}, {0}, "on"};
    EXPECT_NO_THROW(static_cast<void>(payload_layout(plan_with({receive, apart}))));
}

TEST(PayloadLayout, ABlockOutsideItsBufferIsRefused) {
    EXPECT_THROW(static_cast<void>(payload_layout(plan_with({{Recv{0, 1, {0, 50, 11}, 0, -1}, {}, "in"}}))), Error);
    EXPECT_THROW(static_cast<void>(payload_layout(plan_with({{Recv{0, 1, {0, 1, ~Bytes{0}}, 0, -1}, {}, "in"}}))),
                 Error);
}

}  // namespace
}  // namespace dlmb::payload_layout_test
