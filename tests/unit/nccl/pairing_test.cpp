// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/backends/nccl/translate.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace dlmb::nccl {
namespace {

using testing::ElementsAre;

Item receiving(std::vector<std::pair<Rank, int>> const& peers_and_channels) {
    GroupedCall call{nullptr, {}, {}};
    for (auto const& [peer, channel] : peers_and_channels) {
        call.receives.push_back({nullptr, 8, peer, channel});
    }
    return {{}, std::move(call), std::nullopt};
}

std::vector<std::pair<Rank, int>> received_by(Item const& item) {
    std::vector<std::pair<Rank, int>> found;
    for (Transfer const& transfer : std::get<GroupedCall>(item.work).receives) {
        found.emplace_back(transfer.peer, transfer.channel);
    }
    return found;
}

TEST(Pairing, MessagesOfAGroupAreTakenInTheOrderOfTheirSender) {
    std::vector<Item> items{receiving({{1, 0}, {2, 0}, {1, 7}}), receiving({{1, 0}})};
    EXPECT_EQ(take_as_sent(items, {{1, {7, 0, 0}}, {2, {0}}}), "");
    std::vector<std::pair<Rank, int>> from_one;
    for (auto const& message : received_by(items[0])) {
        if (message.first == 1) {
            from_one.push_back(message);
        }
    }
    EXPECT_THAT(from_one, ElementsAre(std::pair(1, 7), std::pair(1, 0)));
    EXPECT_EQ(received_by(items[0]).size(), 3U);
}

TEST(Pairing, AcrossGroupsTheOrderCannotBeChanged) {
    std::vector<Item> items{receiving({{1, 0}}), receiving({{1, 7}})};
    EXPECT_EQ(
        take_as_sent(items, {{1, {7, 0}}}),
        "rank 1 sends on channel 7 before what is received first, on channel 0; NCCL pairs messages by their order");
    items = {receiving({{1, Transfer::of_all_ranks}}), receiving({{1, 0}})};
    EXPECT_EQ(take_as_sent(items, {{1, {Transfer::of_all_ranks, 0}}}), "");
    EXPECT_EQ(take_as_sent(items, {{1, {0, Transfer::of_all_ranks}}}),
              "rank 1 sends on channel 0 before what is received first, in an exchange of all ranks; NCCL pairs "
              "messages by their order");
}

TEST(Pairing, BlocksOfExchangesStayAsTheyAre) {
    std::vector<Item> items{receiving({{1, Transfer::no_channel}, {0, Transfer::no_channel}})};
    EXPECT_EQ(take_as_sent(items, {}), "");
    EXPECT_THAT(received_by(items[0]), ElementsAre(std::pair(1, -1), std::pair(0, -1)));
}

TEST(Pairing, ListsWhatIsSentInTheOrderOfIssue) {
    GroupedCall first{nullptr, {{nullptr, 8, 1, 4}, {nullptr, 8, 2, 0}}, {}};
    GroupedCall second{nullptr, {{nullptr, 8, 1, 3}}, {}};
    auto const sent = channels_sent({{{}, first, std::nullopt}, {{}, second, std::nullopt}});
    EXPECT_THAT(sent.at(1), ElementsAre(4, 3));
    EXPECT_THAT(sent.at(2), ElementsAre(0));
}

TEST(Pairing, PeersAreThoseOfEitherDirectionOnceAndNotThisRankItself) {
    EXPECT_THAT(message_peers(1, {{0, {0}}, {1, {0}}, {3, {2, 5}}}, {{1, {0}}, {2, {7}}, {3, {2}}}),
                ElementsAre(0, 2, 3));
    EXPECT_THAT(message_peers(1, {{1, {0}}, {2, {Transfer::of_all_ranks}}}, {{1, {0}}}), ElementsAre());
    EXPECT_THAT(message_peers(1, {}, {}), ElementsAre());
}

}  // namespace
}  // namespace dlmb::nccl
