// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "tests/unit/kv_transfer/pattern_fixture.hpp"
#include "tests/unit/record/temporary_folder.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <string>

namespace dlmb::kv_transfer {
namespace {

using Labels = std::vector<std::string>;

/// By messages, by puts and by gets, which move the same bytes.
void expect_sound(std::string_view preset, Parameters parameters, WorldShape const& world) {
    std::vector<Plan> const messages = build_all(*kv.make(preset, parameters, world), world, {1, 3});
    for (char const* const way : {"send_recv", "write", "read"}) {
        parameters["op-type"] = way;
        auto const pattern = kv.make(preset, parameters, world);
        EXPECT_EQ(problem_of(*pattern, world, {1, 3}), "") << testing::PrintToString(parameters) << world.ranks;
        std::vector<Plan> const plans = build_all(*pattern, world, {1, 3});
        for (std::size_t rank = 0; rank < messages.size(); ++rank) {
            EXPECT_EQ(bytes_of(messages[rank]).sent, bytes_of(plans[rank]).sent);
            EXPECT_EQ(bytes_of(messages[rank]).received, bytes_of(plans[rank]).received);
            EXPECT_EQ(bytes_of(messages[rank]).messages_sent, bytes_of(plans[rank]).messages_sent);
        }
    }
}

TEST(KvPlan, LayersLeaveOneAfterTheOther) {
    Plan const plan = kv.plan("", {{"layers", "3"}, {"tokens", "64"}}, {2, 2});
    EXPECT_EQ(labels(plan), (Labels{"first_layer.0.0", "layers.1.0", "layers.2.0"}));
    EXPECT_EQ(plan.steps[2].after, (std::vector<StepId>{1}));
    auto const& send = std::get<Send>(plan.steps[0].operation);
    EXPECT_EQ(send.to, (Block{1, 0, Bytes{16} * 8 * 2 * 128 * 2}));  // 16 tokens, 8 heads, k and v of 128 bf16
    EXPECT_EQ(send.window, (MessageWindow{4, 65536}));
    Plan const all = kv.plan("", {{"layers", "3"}, {"tokens", "64"}, {"layers-in-flight", "0"}}, {2, 2});
    EXPECT_TRUE(all.steps[2].after.empty());
    Plan const two = kv.plan("", {{"layers", "3"}, {"tokens", "64"}, {"layers-in-flight", "2"}}, {2, 2});
    EXPECT_TRUE(two.steps[1].after.empty());
    EXPECT_EQ(two.steps[2].after, (std::vector<StepId>{0}));
}

TEST(KvPlan, BlocksCarryAllLayersOfAStage) {
    Parameters const parameters{{"layers", "3"}, {"tokens", "64"}, {"granularity", "block"}, {"prefill-pp", "2"}};
    WorldShape const world{4, 4};  // two stages, two decode ranks
    EXPECT_EQ(labels(kv.plan("", parameters, world, 0)), (Labels{"request.0.0", "request.0.0"}));
    EXPECT_EQ(labels(kv.plan("", parameters, world, 2)), (Labels{"request.0.0", "request.1.0"}));
    // 16 tokens, 4 heads, k and v of 128 bf16: of one layer and of two.
    EXPECT_EQ(std::get<Send>(kv.plan("", parameters, world, 0).steps[0].operation).to.bytes, 32'768U);
    EXPECT_EQ(std::get<Send>(kv.plan("", parameters, world, 1).steps[0].operation).to.bytes, 65'536U);
}

TEST(KvPlan, AContiguousCacheIsOneMessageAndOnlyPagesAreFilledUp) {
    Parameters parameters{{"layers", "1"}, {"tokens", "50"}, {"cache-layout", "contiguous"}};
    EXPECT_EQ(bytes_of(kv.plan("", parameters, {2, 2})).sent, 50U * 4096);
    EXPECT_EQ(bytes_of(kv.plan("", parameters, {2, 2})).messages_sent, 1U);
    parameters["cache-layout"] = "paged";
    EXPECT_EQ(bytes_of(kv.plan("", parameters, {2, 2})).sent, 64U * 4096);
    EXPECT_EQ(bytes_of(kv.plan("", parameters, {2, 2})).messages_sent, 4U);
}

// Four blocks of 16 and a rest of 1: five blocks, of which 40 % are two.
TEST(KvPlan, ReusedBlocksStayAtTheBegin) {
    Parameters parameters{{"layers", "1"}, {"tokens", "65"}, {"reuse", "0.4"}};
    EXPECT_EQ(bytes_of(kv.plan("", parameters, {2, 2})).sent, 3U * 16 * 4096);
    parameters["cache-layout"] = "contiguous";
    EXPECT_EQ(bytes_of(kv.plan("", parameters, {2, 2})).sent, 33U * 4096);
    parameters["reuse"] = "1";
    EXPECT_TRUE(kv.plan("", parameters, {2, 2}).steps.empty());
    // 0.29 * 100 is below 29 in doubles.
    parameters = {{"layers", "1"}, {"tokens", "100"}, {"block-tokens", "1"}, {"reuse", "0.29"}};
    EXPECT_EQ(bytes_of(kv.plan("", parameters, {2, 2})).sent, 71U * 4096);
}

// The second request has 1024 tokens and two known blocks, the third one 700 tokens and one known block.
TEST(KvPlan, RecordedBlocksThatCameBeforeDoNotTravel) {
    record::TemporaryFolder const folder;
    std::string const trace = (folder / "requests.jsonl").string();
    std::ofstream(trace) << "{\"input_length\": 1024, \"hash_ids\": [1, 2]}\n"
                            "{\"input_length\": 1024, \"hash_ids\": [1, 2]}\n"
                            "{\"input_length\": 700, \"hash_ids\": [1, 3]}\n";
    Parameters parameters{{"layers", "1"}, {"tokens", "file:" + trace}, {"requests", "3"}, {"reuse", "recorded"}};
    auto const tokens_of = [&](std::string_view label) {
        return bytes_of(kv.plan("", parameters, {2, 2}), label).sent / 4096;
    };
    EXPECT_EQ(tokens_of("first_layer.0.0"), 1024U);
    EXPECT_EQ(tokens_of("first_layer.0.1"), 0U);
    EXPECT_EQ(tokens_of("first_layer.0.2"), 12U * 16);  // 44 blocks, of which 32 are known
    parameters["reuse"] = "0";
    EXPECT_EQ(tokens_of("first_layer.0.1"), 1024U);
}

// Ranks 0 to 2 prefill for the decode instance of ranks 3 and 4, in which each has a head.
TEST(KvPlan, SeveralPrefillInstancesSendToADecodeInstance) {
    Parameters const parameters{{"layers", "1"},     {"tokens", "16"},   {"kv-heads", "2"},
                                {"prefill-tp", "1"}, {"decode-tp", "2"}, {"prefill-per-decode", "3"}};
    WorldShape const world{5, 5};
    Plan const decode = kv.plan("", parameters, world, 4);
    ASSERT_EQ(decode.groups.size(), 3U);
    EXPECT_EQ(decode.groups.at(2).members, (std::vector<Rank>{2, 3, 4}));
    EXPECT_EQ(bytes_of(decode).received, 3U * 16 * 2 * 128 * 2);
    EXPECT_EQ(bytes_of(kv.plan("", parameters, world, 2)).sent, 2U * 16 * 2 * 128 * 2);
    expect_sound("", parameters, world);
}

// Layers 0 to 3 in two prefill stages of two layers and three decode stages of one, one and two.
TEST(KvPlan, ADecodeStageGetsItsLayersOnly) {
    Parameters parameters{{"layers", "4"},    {"tokens", "16"},   {"prefill-tp", "1"},      {"prefill-pp", "2"},
                          {"decode-tp", "1"}, {"decode-pp", "3"}, {"layers-in-flight", "1"}};
    WorldShape const world{5, 5};
    EXPECT_EQ(labels(kv.plan("", parameters, world, 2)), (Labels{"first_layer.0.0"}));
    EXPECT_EQ(labels(kv.plan("", parameters, world, 3)), (Labels{"layers.1.0"}));
    EXPECT_EQ(labels(kv.plan("", parameters, world, 4)), (Labels{"layers.2.0", "layers.3.0"}));
    expect_sound("", parameters, world);
    parameters["granularity"] = "block";
    EXPECT_EQ(labels(kv.plan("", parameters, world, 0)), (Labels{"request.0.0", "request.0.0"}));
    EXPECT_EQ(bytes_of(kv.plan("", parameters, world, 4)).received, 2U * 16 * 4096);
    expect_sound("", parameters, world);
}

TEST(KvPlan, EveryLayerArrivesOnceForAllStagesAndInstances) {
    for (int prefill_pp = 1; prefill_pp <= 4; ++prefill_pp) {
        for (int decode_pp = 1; decode_pp <= 4; ++decode_pp) {
            for (int per_decode = 1; per_decode <= 3; ++per_decode) {
                int const ranks = 2 * (per_decode * prefill_pp + decode_pp);
                Parameters const parameters{{"layers", "7"},
                                            {"tokens", "16"},
                                            {"prefill-tp", "1"},
                                            {"decode-tp", "1"},
                                            {"prefill-pp", std::to_string(prefill_pp)},
                                            {"decode-pp", std::to_string(decode_pp)},
                                            {"prefill-per-decode", std::to_string(per_decode)}};
                expect_sound("", parameters, {ranks, ranks});
                Bytes received = 0;
                for (Plan const& plan : build_all(*kv.make("", parameters, {ranks, ranks}), {ranks, ranks}, {1, 0})) {
                    received += bytes_of(plan).received;
                }
                EXPECT_EQ(received, static_cast<Bytes>(2 * per_decode) * 7 * 16 * 4096);
            }
        }
    }
}

TEST(KvPlan, NothingIsSentOfAnEmptyPrompt) {
    for (int const ranks : {2, 7}) {
        EXPECT_TRUE(kv.plan("", {{"tokens", "0"}}, {ranks, ranks}).steps.empty());
        expect_sound("", {{"tokens", "0"}}, {ranks, ranks});
    }
}

TEST(KvPlan, RequestsHaveChannelsAndInstancesHaveGroups) {
    Parameters const parameters{
        {"layers", "1"}, {"tokens", "16"}, {"requests", "2"}, {"prefill-tp", "1"}, {"decode-tp", "2"}};
    WorldShape const world{6, 6};  // prefill 0, 1; decode 2, 3 and 4, 5
    Plan const plan = kv.plan("", parameters, world, 1);
    EXPECT_EQ(plan.groups.at(0).members, (std::vector<Rank>{1, 4, 5}));
    ASSERT_EQ(plan.steps.size(), 4U);
    EXPECT_EQ(std::get<Send>(plan.steps[3].operation).channel, 1);
    EXPECT_EQ(std::get<Send>(plan.steps[3].operation).to.peer, 2);
    expect_sound("", parameters, world);
}

// Stage 1 of two stages of two layers waits for three layers before its first one leaves.
TEST(KvPlan, ComputationsComeBeforeWhatTheyCompute) {
    Parameters const parameters{
        {"layers", "4"}, {"tokens", "16"}, {"prefill-pp", "2"}, {"prefill-tp", "1"}, {"compute-ns", "10"}};
    Plan const plan = kv.plan("", parameters, {3, 3}, 1);
    EXPECT_EQ(labels(plan), (Labels{"compute.2", "layers.2.0", "compute.3", "layers.3.0"}));
    EXPECT_EQ(std::get<Compute>(plan.steps[0].operation).busy_ns, 30);
    EXPECT_EQ(std::get<Compute>(plan.steps[2].operation).busy_ns, 10);
    EXPECT_EQ(plan.steps[1].after, (std::vector<StepId>{0}));
    EXPECT_EQ(plan.steps[3].after, (std::vector<StepId>{1, 2}));
    expect_sound("", parameters, {3, 3});
}

TEST(KvPlan, HoldsTogetherForAllSplitsToEight) {
    for (int m = 1; m <= 8; ++m) {
        for (int n = 1; n <= 8; ++n) {
            for (char const* attention : {"gqa", "mla"}) {
                WorldShape const world{m + n, 8};
                expect_sound("",
                             {{"layers", "2"},
                              {"tokens", "40"},
                              {"kv-heads", "5"},
                              {"attention", attention},
                              {"prefill-tp", std::to_string(m)},
                              {"decode-tp", std::to_string(n)}},
                             world);
            }
        }
    }
}

TEST(KvPlan, HoldsTogetherOverStagesRequestsAndSmallMemory) {
    for (char const* granularity : {"layer", "block"}) {
        for (char const* layout : {"paged", "contiguous"}) {
            for (char const* in_flight : {"0", "1", "3"}) {
                for (char const* arrivals : {"together", "alone", "poisson:50"}) {
                    expect_sound("",
                                 {{"layers", "5"},
                                  {"tokens", "quantiles:0=0:100=300"},
                                  {"requests", "3"},
                                  {"arrivals", arrivals},
                                  {"prefill-tp", "2"},
                                  {"prefill-pp", "2"},
                                  {"decode-tp", "3"},
                                  {"granularity", granularity},
                                  {"cache-layout", layout},
                                  {"layers-in-flight", in_flight},
                                  {"compute-ns", "5"},
                                  {"memory-limit", "2M"}},
                                 {14, 7});
                }
            }
        }
    }
}

// Prefill ranks 0 and 1 with two heads each, decode ranks 2 to 4 with one, one and two of them. Rank 4 gets both heads
// of rank 1, and rank 3 one from rank 0.
TEST(KvPlan, APutAndAnOfferAreFollowedByAFlagToEachReceiver) {
    Parameters parameters{{"layers", "1"},     {"tokens", "32"},   {"kv-heads", "4"},
                          {"prefill-tp", "2"}, {"decode-tp", "3"}, {"op-type", "write"}};
    Bytes const page = Bytes{16} * 2 * 128 * 2;  // of one head
    auto const step_of = [&](Rank rank) { return kv.plan("", parameters, {5, 5}, rank).steps.at(0).operation; };
    auto const put = std::get<Put>(step_of(0));
    EXPECT_EQ(put.signals, (std::vector<Signal>{{2, 2}, {3, 2}}));
    EXPECT_EQ(put.send.at(3), (Block{3, 3 * page, page}));
    EXPECT_EQ(put.targets, (std::vector<Bytes>{64, 64 + page, 64, 64 + page}));
    auto const wait = std::get<WaitSignal>(step_of(4));
    EXPECT_EQ(wait.signals, (std::vector<Signal>{{1, 2}}));
    EXPECT_EQ(wait.recv.at(1), (Block{1, 64 + 2 * page, 2 * page}));
    // A reader knows its places itself.
    parameters["op-type"] = "read";
    Put offer = put;
    offer.kind = OperationKind::offer;
    offer.targets.clear();
    EXPECT_EQ(std::get<Put>(step_of(0)), offer);
    WaitSignal get = wait;
    get.kind = OperationKind::get;
    EXPECT_EQ(std::get<WaitSignal>(step_of(4)), get);
}

TEST(KvPlan, SeveralSendersOfAReceiverHaveTheirOwnPlaces) {
    Parameters const parameters{{"layers", "1"},     {"tokens", "16"},   {"kv-heads", "2"},
                                {"prefill-tp", "2"}, {"decode-tp", "1"}, {"op-type", "write"}};
    Bytes const page = Bytes{16} * 2 * 128 * 2;
    auto const second = std::get<Put>(kv.plan("", parameters, {3, 3}, 1).steps.at(0).operation);
    EXPECT_EQ(second.targets, (std::vector<Bytes>{64 + page + 128}));
    auto const wait = std::get<WaitSignal>(kv.plan("", parameters, {3, 3}, 2).steps.at(0).operation);
    EXPECT_EQ(wait.recv, (std::vector<Block>{{0, 64, page}, {1, second.targets.front(), page}}));
}

// 2^22 tokens of 4,096 B in one layer: 2^34 bytes in one message.
TEST(KvPlan, SizesAbove2GiBHoldTogether) {
    for (char const* layout : {"paged", "contiguous"}) {
        Parameters const parameters{{"layers", "2"}, {"tokens", "4194304"}, {"cache-layout", layout}};
        EXPECT_EQ(bytes_of(kv.plan("", parameters, {2, 2})).sent, Bytes{1} << 35U);
        expect_sound("", parameters, {2, 2});
    }
}

TEST(KvPlan, StatisticsCountTokensBytesAndMessages) {
    Parameters const parameters{{"layers", "2"},   {"tokens", "160"},   {"reuse", "0.5"},
                                {"requests", "3"}, {"prefill-tp", "1"}, {"decode-tp", "2"}};
    auto const pattern = kv.make("", parameters, {6, 6});
    EXPECT_EQ(statistic(*pattern, 6, "request_tokens"), 160);
    EXPECT_EQ(statistic(*pattern, 6, "request_cache_bytes"), 160 * 2 * 4096);
    EXPECT_EQ(statistic(*pattern, 6, "request_moved_bytes"), 80 * 2 * 4096);
    Bytes messages = 0;
    for (Rank rank = 0; rank < 6; ++rank) {
        messages += bytes_of(kv.plan("", parameters, {6, 6}, rank)).messages_sent;
    }
    EXPECT_EQ(statistic(*pattern, 6, "window_messages"), static_cast<double>(messages));
    EXPECT_EQ(messages, 2U * 3 * 5 * 2 * 2);  // layers, requests, blocks, decode ranks, instances
    Parameters puts = parameters;
    puts["op-type"] = "write";
    EXPECT_EQ(statistic(*kv.make("", puts, {6, 6}), 6, "window_messages"), static_cast<double>(messages));
}

}  // namespace
}  // namespace dlmb::kv_transfer
