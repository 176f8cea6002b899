// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "patterns/reshard/reshard.hpp"
#include "tests/unit/patterns/pattern_under_test.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

namespace dlmb::reshard {
namespace {

std::unique_ptr<Pattern> pattern_of(Parameters const& overrides, int ranks, std::string_view preset = "") {
    return make_pattern(type(), preset, overrides, {ranks, ranks});
}

std::map<std::string, double> statistics_of(Parameters const& overrides, int ranks) {
    return dlmb::statistics_of(*pattern_of(overrides, ranks), ranks);
}

Parameters small(Parameters more) {
    more.merge(Parameters{{"hidden", "64"},
                          {"layers", "4"},
                          {"heads", "8"},
                          {"kv-heads", "2"},
                          {"head-dim", "8"},
                          {"mlp", "96"},
                          {"vocabulary", "64"},
                          {"experts", "8"},
                          {"expert-mlp", "16"},
                          {"dense-layers", "1"}});
    return more;
}

TEST(ReshardPlan, HoldsTogetherOverWiresLayoutsAndSmallMemory) {
    for (char const* wire : {"p2p", "striped", "bucketed", "broadcast"}) {
        for (int const ranks : {1, 3, 7, 8}) {
            for (char const* senders : {"0", "2"}) {
                if (ranks == 1 && std::string_view(senders) != "0") {
                    continue;
                }
                for (char const* in_flight : {"1", "2"}) {
                    Parameters const parameters = small({{"wire", wire},
                                                         {"senders", senders},
                                                         {"bucket", "4001"},
                                                         {"in-flight", in_flight},
                                                         {"memory-limit", "20K"},
                                                         {"to-tp", "0"},
                                                         {"tp", "1"}});
                    WorldShape const world{ranks, ranks};
                    EXPECT_EQ(problem_of(*pattern_of(parameters, ranks), world), "")
                        << wire << ' ' << ranks << ' ' << senders;
                }
            }
        }
    }
}

// A receiver can check only what its sender keeps.
TEST(ReshardPlan, AllEndsOfATransferHaveBuffersOfTheirOwnOrNone) {
    for (char const* wire : {"bucketed", "broadcast"}) {
        std::set<bool> found;
        for (char const* limit : {"20K", "60K", "200K"}) {
            auto const pattern = pattern_of(small({{"wire", wire},
                                                   {"senders", "1"},
                                                   {"bucket", "4001"},
                                                   {"memory-limit", limit},
                                                   {"to-tp", "2"},
                                                   {"to-pp", "2"}}),
                                            5);
            std::map<std::vector<Rank>, std::set<std::vector<bool>>> shared;  // by the ranks of a transfer
            for (Plan const& plan : build_all(*pattern, {5, 5}, {})) {
                std::map<std::vector<Rank>, std::vector<bool>> own;  // by step
                for (Step const& step : plan.steps) {
                    auto const* const send = std::get_if<Send>(&step.operation);
                    auto const* const recv = std::get_if<Recv>(&step.operation);
                    std::vector<Rank> const ends = send != nullptr ? std::vector{plan.me, send->to.peer}
                                                   : recv != nullptr
                                                       ? std::vector{recv->from.peer, plan.me}
                                                       : plan.groups.at(group_of(step.operation).value()).members;
                    bool last = false;
                    std::visit(
                        [&](auto& operation) {
                            for_each_buffer(operation, [&](BufferId buffer) { last = plan.buffers.at(buffer).shared; });
                        },
                        step.operation);
                    own[ends].push_back(last);
                    found.insert(last);
                }
                for (auto const& [ends, of_steps] : own) {
                    shared[ends].insert(of_steps);
                }
            }
            for (auto const& [ends, of_ranks] : shared) {
                EXPECT_EQ(of_ranks.size(), 1U) << wire << ' ' << limit << ", from rank " << ends.front();
            }
        }
        EXPECT_EQ(found.size(), 2U) << wire << ": some have them, some have none";
    }
}

TEST(ReshardPlan, AllWiresDeliverTheBoundButBroadcastsOfWholeBuckets) {
    for (char const* wire : {"p2p", "striped", "bucketed"}) {
        auto const found = statistics_of(small({{"wire", wire}, {"tp", "4"}, {"to-tp", "2"}, {"to-ep", "2"}}), 8);
        EXPECT_EQ(found.at("moved_bytes"), found.at("bound_bytes")) << wire;
        EXPECT_GT(found.at("bound_bytes"), 0) << wire;
        EXPECT_EQ(found.at("received_bytes_max"), found.at("bound_bytes_max")) << wire;
        EXPECT_EQ(found.at("moved_of_bound"), 1) << wire;
    }
    // Each of 4 receivers needs a quarter of the cut matrices, and gets all: about four times the bound.
    Parameters const whole = small({{"wire", "broadcast"}, {"senders", "4"}, {"tp", "1"}, {"to-tp", "4"}});
    auto const found = statistics_of(whole, 8);
    EXPECT_GT(found.at("moved_of_bound"), 3);
    EXPECT_LE(found.at("moved_of_bound"), 4);
    EXPECT_EQ(found.at("sent_bytes_max") * 4, found.at("moved_bytes"));
}

// 4 replicas hold all, 4 receivers need all: with one sender each everybody sends to one, with stripes to all four.
TEST(ReshardPlan, ReplicasShareTheSending) {
    Parameters parameters = small({{"senders", "4"}, {"tp", "1"}, {"wire", "p2p"}});
    for (char const* wire : {"p2p", "striped"}) {
        parameters["wire"] = wire;
        auto const found = statistics_of(parameters, 8);
        EXPECT_NEAR(found.at("sent_bytes_max") * 4 / found.at("moved_bytes"), 1, 0.001) << wire;
    }
    auto const pattern = pattern_of(parameters, 8);  // striped
    EXPECT_EQ(std::get<Exchange>(build_one(*pattern, 0, {}).steps.at(0).operation).send.size(), 4U);
    EXPECT_EQ(std::get<Exchange>(build_one(*pattern, 0, {}).steps.at(0).operation).recv.size(), 0U);
}

TEST(ReshardPlan, ReplicasSendEquallyMuchWhateverTheirNumber) {
    for (int const ranks : {4, 7, 8}) {
        auto const found = statistics_of(small({{"senders", "3"}, {"tp", "1"}, {"to-tp", "0"}}), ranks);
        EXPECT_NEAR(found.at("sent_bytes_max") * 3 / found.at("moved_bytes"), 1, 0.001) << ranks;
    }
    // Six receivers: two from each of three, and nobody from two.
    auto const pattern = pattern_of(small({{"senders", "3"}, {"tp", "1"}}), 9);
    for (Rank rank = 3; rank < 9; ++rank) {
        EXPECT_EQ(std::get<Exchange>(build_one(*pattern, rank, {}).steps.at(0).operation).recv.size(), 1U) << rank;
    }
}

TEST(ReshardPlan, TheSameLayoutMovesNothing) {
    for (char const* wire : {"p2p", "striped", "bucketed", "broadcast"}) {
        auto const found = statistics_of(small({{"wire", wire}, {"tp", "2"}, {"to-tp", "2"}}), 8);
        EXPECT_EQ(found.at("moved_bytes"), 0) << wire;
        EXPECT_EQ(found.at("moved_of_bound"), 1) << wire;
    }
    for (char const* layers : {"0", "4"}) {
        EXPECT_EQ(statistics_of({{"hidden", "0"}, {"layers", layers}}, 4).at("moved_bytes"), 0);
    }
    EXPECT_EQ(statistics_of({}, 1).at("bound_bytes"), 0);
}

TEST(ReshardPlan, BucketsOfOnePairWaitForTheOneBeforeTheLast) {
    Parameters const parameters = small({{"wire", "bucketed"}, {"senders", "1"}, {"bucket", "16K"}});
    Plan const plan = build_one(*pattern_of(parameters, 2), 1, {});
    ASSERT_GT(plan.steps.size(), 4U);
    Bytes received = 0;
    for (StepId step = 0; step < plan.steps.size(); ++step) {
        auto const& recv = std::get<Recv>(plan.steps[step].operation);
        EXPECT_EQ(recv.batch, static_cast<int>(step));
        EXPECT_LE(recv.from.bytes, 16384U);
        received += recv.from.bytes;
        EXPECT_EQ(plan.steps[step].after, step < 2 ? std::vector<StepId>{} : std::vector<StepId>{step - 2});
    }
    EXPECT_EQ(static_cast<double>(received), statistics_of(parameters, 2).at("bound_bytes"));
}

TEST(ReshardPlan, OwnersTakeTurnsAtBroadcasting) {
    Parameters const parameters = small({{"wire", "broadcast"}, {"tp", "4"}, {"bucket", "8K"}});
    Plan const plan = build_one(*pattern_of(parameters, 4), 0, {});
    std::vector<Rank> roots;
    for (std::size_t i = 0; i < 8; ++i) {
        auto const& step = std::get<Collective>(plan.steps.at(i).operation);
        roots.push_back(world_rank(plan, step.group, step.root));
        EXPECT_EQ(step.bytes, 8192U);
    }
    EXPECT_EQ(roots, (std::vector<Rank>{0, 1, 2, 3, 0, 1, 2, 3}));
}

TEST(ReshardPlan, OneBlockMayBeAbove2GiB) {
    Parameters const parameters{{"vocabulary", "2000000"}, {"hidden", "1024"}, {"senders", "1"}, {"layers", "0"}};
    Plan const plan = build_one(*pattern_of(parameters, 2), 1, {});
    EXPECT_EQ(std::get<Exchange>(plan.steps.at(0).operation).recv.at(0).bytes,
              2 * 2'000'000ULL * 1024 * 2 + 1024 * 2);  // embedding, head and final norm
}

// Llama 3 70B (70,553,706,496 weights, 161 norms of 8192 that all ranks hold), TP 8 to TP 4.
TEST(ReshardPresets, BytesOfLlama70B) {
    auto const pattern = pattern_of({}, 8, "llama3-70b");
    double const eighth = (70'553'706'496.0 - 161 * 8192) / 8 * 2;
    auto const found = dlmb::statistics_of(*pattern, 8);
    EXPECT_EQ(found.at("bound_bytes_max"), 2 * eighth);
    // Rank r holds eighth r and needs eighths 2 (r mod 4) and 2 (r mod 4) + 1: only ranks 0 and 7 hold one of theirs.
    EXPECT_EQ(found.at("bound_bytes"), (2 * 8 - 2) * eighth);
    EXPECT_EQ(found.at("moved_bytes"), found.at("bound_bytes"));
}

TEST(ReshardPresets, HoldTogetherInTheirPublishedLayouts) {
    EXPECT_EQ(problem_of(*pattern_of({}, 12, "llama3-8b"), {12, 8}), "");
    EXPECT_EQ(problem_of(*pattern_of({}, 32, "kimi-k2"), {32, 8}), "");
}

// 1,024 of DeepSeek-V3's 2,048 ranks: PP 16 and EP 64, then EP 32.
TEST(ReshardPresets, DeepSeekV3OnAThousandRanks) {
    auto const pattern = pattern_of({}, 1024, "deepseek-v3");
    Plan const last = build_one(*pattern, 1023, {});
    Bytes const received = total(std::get<Exchange>(last.steps.at(0).operation).recv);
    EXPECT_EQ(received, pattern->setup_of(1023, {}).statistics.at(2047));
    EXPECT_GT(received, 0U);
}

}  // namespace
}  // namespace dlmb::reshard
