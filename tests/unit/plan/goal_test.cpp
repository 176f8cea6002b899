// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/plan/plan_text.hpp"
#include "tests/unit/plan/plan_sets.hpp"

#include <gtest/gtest.h>

#include <map>
#include <regex>
#include <sstream>
#include <tuple>

namespace dlmb {
namespace {

/// (source, destination, tag) -> bytes, in the order of the text.
using Traffic = std::map<std::tuple<int, int, int>, std::vector<Bytes>>;

struct Schedule {
    Traffic sent, received;
    std::map<int, std::map<int, std::vector<int>>> requires_labels;  // rank -> label -> labels
    std::map<int, int> lines;                                        // rank -> labelled lines
};

/// An independent reading of the grammar: every line must be one of its forms.
Schedule read(std::string const& text) {
    static std::regex const message(R"(l(\d+): (send|recv) (\d+)b (to|from) (\d+) tag (\d+))");
    static std::regex const calc(R"(l(\d+): calc (\d+))");
    static std::regex const dependency(R"(l(\d+) requires l(\d+))");
    Schedule schedule;
    std::istringstream lines(text);
    std::string line;
    int rank = -1;
    std::getline(lines, line);
    EXPECT_TRUE(std::regex_match(line, std::regex(R"(num_ranks \d+)"))) << line;
    while (std::getline(lines, line)) {
        std::smatch match;
        if (std::regex_match(line, match, message)) {
            int const peer = std::stoi(match[5]);
            bool const is_send = match[2] == "send";
            EXPECT_EQ(match[4], is_send ? "to" : "from") << line;
            auto const key =
                is_send ? std::tuple(rank, peer, std::stoi(match[6])) : std::tuple(peer, rank, std::stoi(match[6]));
            (is_send ? schedule.sent : schedule.received)[key].push_back(std::stoull(match[3]));
            EXPECT_EQ(std::stoi(match[1]), ++schedule.lines[rank]) << "labels count up: " << line;
        } else if (std::regex_match(line, match, calc)) {
            EXPECT_EQ(std::stoi(match[1]), ++schedule.lines[rank]) << line;
        } else if (std::regex_match(line, match, dependency)) {
            EXPECT_LT(std::stoi(match[2]), std::stoi(match[1])) << "only earlier lines: " << line;
            schedule.requires_labels[rank][std::stoi(match[1])].push_back(std::stoi(match[2]));
        } else if (std::regex_match(line, match, std::regex(R"(rank (\d+) \{)"))) {
            rank = std::stoi(match[1]);
        } else {
            EXPECT_TRUE(line.empty() || line == "}") << line;
        }
    }
    return schedule;
}

Bytes sum(Traffic const& traffic) {
    Bytes total = 0;
    for (auto const& [key, bytes] : traffic) {
        for (Bytes const one : bytes) {
            total += one;
        }
    }
    return total;
}

TEST(Goal, OfTwoRanksIsThisText) {
    std::vector<Plan> plans;
    for (Rank me = 0; me < 2; ++me) {
        PlanBuilder builder(me);
        GroupId const pair = builder.group(test::world_group(2));
        StepId const work = builder.compute(250, "work");
        me == 0 ? builder.send(pair, 1, 8, 3, -1, "ping", {work}) : builder.recv(pair, 0, 8, 3, -1, "ping", {work});
        plans.push_back(std::move(builder).finish());
    }
    EXPECT_EQ(to_goal(plans), "num_ranks 2\n"
                              "\n"
                              "rank 0 {\n"
                              "l1: calc 250\n"
                              "l2: send 8b to 1 tag 3\n"
                              "l2 requires l1\n"
                              "}\n"
                              "\n"
                              "rank 1 {\n"
                              "l1: calc 250\n"
                              "l2: recv 8b from 0 tag 3\n"
                              "l2 requires l1\n"
                              "}\n");
}

TEST(Goal, LeavesOutSelfAndKeepsLargeSizes) {
    constexpr Bytes large = (Bytes{5} << 32) + 1;
    std::string const text = to_goal(test::exchange_plans(2, [](Rank, Rank) { return large; }));
    EXPECT_NE(text.find("l2: send 21474836481b to 1 tag 0\n"), std::string::npos) << text;
    EXPECT_EQ(text.find("to 0 tag", text.find("rank 0 {")), text.find("to 0 tag", text.find("rank 1 {"))) << text;
}

TEST(Goal, EverySendHasAReceiveOfTheSameSizeAndTag) {
    Schedule const schedule = read(to_goal(test::mixed_plans()));
    EXPECT_EQ(schedule.sent, schedule.received);
    EXPECT_FALSE(schedule.sent.empty());
}

TEST(Goal, MovesWhatTheOperationsMove) {
    // One collective on four ranks each, summed over ranks. Shares of 60 fp32 over 4 ranks: 16 16 16 12 B.
    auto const moved = [](auto const& add) {
        std::vector<Plan> plans;
        for (Rank me = 0; me < 4; ++me) {
            PlanBuilder builder(me);
            add(builder, builder.group(test::world_group(4)));
            plans.push_back(std::move(builder).finish());
        }
        Schedule const schedule = read(to_goal(plans));
        EXPECT_EQ(schedule.sent, schedule.received);
        return sum(schedule.sent);
    };
    EXPECT_EQ(moved([](PlanBuilder& b, GroupId g) { b.all_reduce(g, 60, Element::fp32, Reduction::sum, "x"); }),
              2U * 3 * 60);  // every chunk passes three links, twice
    EXPECT_EQ(moved([](PlanBuilder& b, GroupId g) { b.reduce_scatter(g, 64, Element::fp32, Reduction::sum, "x"); }),
              3U * 64);
    EXPECT_EQ(moved([](PlanBuilder& b, GroupId g) { b.all_gather(g, 64, Element::fp32, "x"); }), 3U * 64);
    EXPECT_EQ(moved([](PlanBuilder& b, GroupId g) { b.broadcast(g, 2, 64, Element::fp32, "x"); }), 3U * 64);
    EXPECT_EQ(moved([](PlanBuilder& b, GroupId g) { b.reduce(g, 2, 64, Element::fp32, Reduction::sum, "x"); }),
              3U * 64);
    std::vector<Bytes> const shares{4, 0, 20, 40};
    EXPECT_EQ(moved([&](PlanBuilder& b, GroupId g) { b.gather(g, 2, SharedBytes(shares), Element::fp32, "x"); }), 44U)
        << "all but the root's part";
    EXPECT_EQ(moved([&](PlanBuilder& b, GroupId g) { b.scatter(g, 3, SharedBytes(shares), Element::fp32, "x"); }), 24U);
    EXPECT_EQ(moved([&](PlanBuilder& b, GroupId g) { b.all_gather(g, SharedBytes(shares), Element::fp32, "x"); }),
              3U * 64);
    EXPECT_EQ(moved([&](PlanBuilder& b, GroupId g) {
                  b.reduce_scatter(g, SharedBytes(shares), Element::fp32, Reduction::sum, "x");
              }),
              3U * 64);
    EXPECT_EQ(moved([](PlanBuilder& b, GroupId g) { b.barrier(g, "x"); }), 2U * 4) << "two rounds of a byte per rank";
    // Fewer elements than ranks: two chunks are empty and leave no line.
    EXPECT_EQ(moved([](PlanBuilder& b, GroupId g) { b.all_reduce(g, 8, Element::fp32, Reduction::sum, "x"); }),
              2U * 3 * 8);
}

TEST(Goal, RingRoundsWaitForTheRoundBefore) {
    std::vector<Plan> plans;
    for (Rank me = 0; me < 3; ++me) {
        PlanBuilder builder(me);
        builder.all_reduce(builder.group(test::world_group(3)), 12, Element::fp32, Reduction::sum, "x");
        plans.push_back(std::move(builder).finish());
    }
    Schedule const schedule = read(to_goal(plans));
    // 2 * (3 - 1) rounds of a receive and a send, then the join: line 2k+1 and 2k+2 wait for 2k-1 and 2k.
    EXPECT_EQ(schedule.lines.at(1), 9);
    for (int label = 3; label <= 8; ++label) {
        int const before = (label - 1) / 2 * 2;
        EXPECT_EQ(schedule.requires_labels.at(1).at(label), (std::vector<int>{before - 1, before})) << label;
    }
}

TEST(Goal, DependenciesOfDenseExchangesStayLinear) {
    constexpr int ranks = 32;
    std::vector<Plan> plans;
    std::vector<Bytes> const bytes(ranks, 8);
    for (Rank me = 0; me < ranks; ++me) {
        PlanBuilder builder(me);
        GroupId const all = builder.group(test::world_group(ranks));
        StepId const dispatch = builder.exchange(all, bytes, bytes, "dispatch");
        builder.exchange(all, bytes, bytes, "combine", {dispatch});
        plans.push_back(std::move(builder).finish());
    }
    Schedule const schedule = read(to_goal(plans));
    std::size_t dependencies = 0;
    for (auto const& [label, labels] : schedule.requires_labels.at(0)) {
        dependencies += labels.size();
    }
    // 62 messages join, 62 wait for that join, 62 join: 3 * 62 instead of 62 * 62.
    EXPECT_EQ(dependencies, 3U * 62);
}

TEST(Goal, AStepWithoutMessagesStillCarriesItsDependencies) {
    PlanBuilder builder(0);
    GroupId const alone = builder.group(test::world_group(1));
    std::vector<Bytes> const self{64};
    StepId last = builder.compute(10, "a");
    last = builder.exchange(alone, self, self, "b", {last});
    builder.compute(20, "c", {last});
    std::vector<Plan> const plans{std::move(builder).finish()};
    EXPECT_EQ(to_goal(plans), "num_ranks 1\n\nrank 0 {\n"
                              "l1: calc 10\n"
                              "l2: calc 0\n"
                              "l2 requires l1\n"
                              "l3: calc 20\n"
                              "l3 requires l2\n"
                              "}\n");
}

}  // namespace
}  // namespace dlmb
