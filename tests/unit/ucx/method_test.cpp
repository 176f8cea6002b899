// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/backends/ucx/method.hpp"
#include "common/base/error.hpp"

#include <gtest/gtest.h>

namespace dlmb::ucx {
namespace {

/// Rank 2 of 5 in an exchange with everybody, blocks by peer as a plan has them.
LanePlan rank_2_of_5() {
    LanePlan lane;
    for (Rank const peer : {0, 1, 3, 4}) {
        Transfer receive;
        receive.peer = peer;
        receive.distance = (2 - peer + 5) % 5;
        lane.receives.push_back(receive);
        Transfer send;
        send.peer = peer;
        send.distance = (peer - 2 + 5) % 5;
        lane.sends.push_back(send);
    }
    return lane;
}

std::vector<Rank> peers(std::vector<Transfer> const& transfers) {
    std::vector<Rank> order;
    for (Transfer const& transfer : transfers) {
        order.push_back(transfer.peer);
    }
    return order;
}

TEST(Method, BothSendToTheNextRankFirstAndReceiveFromThePreviousOne) {
    for (Method const& method : {linear(), pairwise()}) {
        LanePlan lane = rank_2_of_5();
        method.arrange(lane, std::nullopt);
        EXPECT_EQ(peers(lane.sends), (std::vector<Rank>{3, 4, 0, 1})) << method.info.name;
        EXPECT_EQ(peers(lane.receives), (std::vector<Rank>{1, 0, 4, 3})) << method.info.name;
    }
}

TEST(Method, LinearPostsEverythingAndItsKnobBoundsOnlyTheSends) {
    LanePlan lane = rank_2_of_5();
    linear().arrange(lane, std::nullopt);
    EXPECT_EQ(lane.receive_window, 4U);
    EXPECT_EQ(lane.send_window, 4U);
    linear().arrange(lane, 2);
    EXPECT_EQ(lane.receive_window, 4U);
    EXPECT_EQ(lane.send_window, 2U);
}

TEST(Method, PairwiseBoundsBothSides) {
    LanePlan lane = rank_2_of_5();
    pairwise().arrange(lane, 3);
    EXPECT_EQ(lane.receive_window, 3U);
    EXPECT_EQ(lane.send_window, 3U);
}

TEST(Method, TheKnobIsAWholePositiveNumber) {
    EXPECT_EQ(max_outstanding_of({"linear", {}}), std::nullopt);
    EXPECT_EQ(max_outstanding_of({"linear", {{"max_outstanding", "12"}}}), 12U);
    for (char const* const wrong : {"0", "-1", "4x", "many"}) {
        EXPECT_THROW(static_cast<void>(max_outstanding_of({"linear", {{"max_outstanding", wrong}}})), UsageError)
            << wrong;
    }
    EXPECT_THROW(static_cast<void>(max_outstanding_of({"linear", {{"outstanding", "1"}}})), UsageError);
}

}  // namespace
}  // namespace dlmb::ucx
