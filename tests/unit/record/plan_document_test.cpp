// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/formats/plan_file/plan_document.hpp"
#include "common/formats/record/json.hpp"
#include "tests/unit/record/sample_records.hpp"

#include <gtest/gtest.h>

namespace dlmb::record {
namespace {

Json document() {
    return Json::parse(plan_document(sample_plan_header(), sample_plans()));
}

Json step(std::size_t plan, std::size_t id) {
    return document().at("plans").at(plan).at("steps").at(id);
}

TEST(PlanDocument, HeadNamesWhatThePlansWereMadeFrom) {
    Json head = document();
    EXPECT_EQ(head.at("schema"), "dlmb.plan/1.1");
    EXPECT_EQ(head.at("pattern"), "moe_alltoall");
    EXPECT_EQ(head.at("parameters").at("hidden"), 2048);
    EXPECT_EQ(head.at("parameters").at("skew"), "lognormal:0.3");
    EXPECT_EQ(head.at("world"), (Json{{"ranks", 4}, {"ranks_per_node", 2}}));
    EXPECT_EQ(head.at("draw"), (Json{{"seed", 7}, {"index", 3}}));
    EXPECT_EQ(head.at("statistics").at("gini_rank"), 0.25);
}

TEST(PlanDocument, PeersAreWorldRanksAndSelfBlocksAreIncluded) {
    // Group {1, 3}: member 0 is world rank 1 and member 1 is world rank 3.
    Json const exchange = step(0, 0);
    EXPECT_EQ(exchange.at("operation"), "exchange");
    EXPECT_EQ(exchange.at("group"), (Json{1, 3}));
    EXPECT_EQ(exchange.at("send"), Json::parse(R"([{"peer":1,"bytes":256},{"peer":3,"bytes":256}])"));
    EXPECT_EQ(exchange.at("recv"), exchange.at("send"));
    EXPECT_EQ(step(0, 5).at("root"), 3);
}

TEST(PlanDocument, PointToPointStepsNameOnePeerAndTheirBatch) {
    EXPECT_EQ(step(0, 1).at("send"), Json::parse(R"([{"peer":3,"bytes":64}])"));
    EXPECT_FALSE(step(0, 1).contains("recv"));
    EXPECT_EQ(step(1, 1).at("recv"), Json::parse(R"([{"peer":1,"bytes":64}])"));
    EXPECT_EQ(step(1, 1).at("batch"), 2);
    EXPECT_EQ(step(1, 1).at("channel"), 1);
}

TEST(PlanDocument, CollectivesGiveTheFullLogicalBufferAndTheirElement) {
    char const* const names[] = {"allreduce", "reduce_scatter", "allgather", "broadcast"};
    std::uint64_t const bytes[] = {512, 1024, 2048, 128};
    char const* const elements[] = {"fp32", "bf16", "fp8", "byte"};
    for (std::size_t i = 0; i < 4; ++i) {
        Json const collective = step(0, 2 + i);
        EXPECT_EQ(collective.at("operation"), names[i]);
        EXPECT_EQ(collective.at("bytes"), bytes[i]);
        EXPECT_EQ(collective.at("element"), elements[i]);
    }
    EXPECT_EQ(step(0, 3).at("reduction"), "max");
}

TEST(PlanDocument, PartsThatAreNotEqualAreNamedAndRootsAreWorldRanks) {
    Plan plan;
    plan.me = 3;
    plan.groups = {{{1, 3}}};
    plan.steps = {{Gather{0, 1, {}, {}, 24, Element::int64, {16, 8}}, {}, "gatherv"},
                  {Scatter{0, 0, {}, {}, 2, Element::int8, {}}, {}, "scatter"},
                  {Reduce{0, 1, {}, {}, 8, Element::fp32, Reduction::prod}, {}, "reduce"},
                  {Barrier{0}, {}, "barrier"}};
    Json const steps =
        Json::parse(plan_document(sample_plan_header(), std::span<Plan const>(&plan, 1))).at("plans").at(0).at("steps");
    EXPECT_EQ(steps.at(0).at("shares"), (Json{16, 8}));
    EXPECT_EQ(steps.at(0).at("root"), 3);
    EXPECT_FALSE(steps.at(1).contains("shares")) << "equal parts";
    EXPECT_EQ(steps.at(1).at("root"), 1);
    EXPECT_EQ(steps.at(1).at("element"), "int8");
    EXPECT_EQ(steps.at(2).at("reduction"), "prod");
    EXPECT_EQ(steps.at(3).at("operation"), "barrier");
    EXPECT_EQ(steps.at(3).at("group"), (Json{1, 3}));
    EXPECT_FALSE(steps.at(3).contains("bytes"));
}

TEST(PlanDocument, StepsKeepTheirIdsLabelsAndOrder) {
    Json const last = step(1, 6);
    EXPECT_EQ(last.at("id"), 6);
    EXPECT_EQ(last.at("label"), "experts");
    EXPECT_EQ(last.at("after"), Json::array({5}));
    EXPECT_EQ(last.at("busy_ns"), 1500);
    EXPECT_EQ(last.at("product"), (Json{{"rows", 64}, {"columns", 128}, {"inner", 32}}));
    EXPECT_EQ(step(1, 0).at("after"), Json::array());
}

TEST(PlanDocument, WhatIsPackedIsNamedWithItsBytes) {
    Plan plan;
    plan.buffers = {{"numbers", 1000}, {"packed", 1000}};
    Conversion const conversion{PackDirection::unpack,         {Code::int4, 32, ScaleType::e8m0}, Element::bf16, 0, 1,
                                {{2, 33, 0, 0}, {1, 33, 0, 0}}};
    plan.steps = {{Compute{.conversion = conversion}, {}, "unpack.dispatch"}};
    Json const read = Json::parse(plan_document(sample_plan_header(), std::span<Plan const>(&plan, 1)));
    EXPECT_EQ(read.at("plans").at(0).at("steps").at(0).at("conversion"), (Json{{"direction", "unpack"},
                                                                               {"format", "int4:32:e8m0"},
                                                                               {"element", "bf16"},
                                                                               {"number_bytes", 3 * 66},
                                                                               {"packed_bytes", 3 * (17 + 2)}}));
}

TEST(PlanDocument, RowsThatAreMovedAreNamedWithTheirPlaces) {
    Plan plan;
    plan.buffers = {{"rows", 1000}, {"send", 1000}};
    Rearrangement const rows{
        PackDirection::pack, Processor::device, 24, 0, 1, {{2, 0, 64, 48, 24}, {1, 24, 112, 24, 24}}};
    plan.steps = {{Compute{.rearrangement = rows}, {}, "pack.dispatch"}};
    Json const read = Json::parse(plan_document(sample_plan_header(), std::span<Plan const>(&plan, 1)));
    EXPECT_EQ(read.at("plans").at(0).at("steps").at(0).at("rearrangement"),
              (Json{{"direction", "pack"},
                    {"by", "device"},
                    {"row_bytes", 24},
                    {"runs", {{2, 0, 64, 48, 24}, {1, 24, 112, 24, 24}}}}));
}

TEST(PlanDocument, RowsThatLieApartAreNamedWithTheirPlaces) {
    Exchange exchange{0, 0, 1, {{0, 0, 48}}, {{0, 0, 48}}};
    exchange.scattered = ScatteredRows{24, {{{2, 0, 48}}, {}}, {{{1, 88, 24}, {1, 64, 24}}, {}}};
    Plan const plan{0, {{{0}}}, {{"send", 100}, {"recv", 200}}, {{exchange, {}, "dispatch"}}};
    Json const read = Json::parse(plan_document(sample_plan_header(), std::span<Plan const>(&plan, 1)));
    EXPECT_EQ(read.at("plans").at(0).at("steps").at(0).at("scattered"),
              (Json{{"row_bytes", 24},
                    {"sent", Json::array({{2, 0, 48}})},
                    {"received", Json::array({{1, 88, 24}, {1, 64, 24}})}}));
}

// Rank 3 puts two blocks before one signal of rank 1, and rank 1 waits for it.
TEST(PlanDocument, PutsNameTheirPlacesAtTheReceiverAndTheirSignals) {
    Plan plan;
    plan.me = 3;
    plan.groups = {{{1, 3}}};
    plan.steps = {{Put{0, 0, {{0, 0, 100}, {0, 128, 40}}, {64, 256}, {{0, 2}}}, {}, "there.put"},
                  {WaitSignal{0, 0, {{0, 64, 8}}, {{0, 1}}}, {0}, "back.wait"}};
    Json const steps =
        Json::parse(plan_document(sample_plan_header(), std::span<Plan const>(&plan, 1))).at("plans").at(0).at("steps");
    EXPECT_EQ(steps.at(0).at("operation"), "put");
    EXPECT_EQ(steps.at(0).at("send"),
              Json::parse(R"([{"peer":1,"bytes":100,"offset":64},{"peer":1,"bytes":40,"offset":256}])"));
    EXPECT_EQ(steps.at(0).at("signals"), Json::parse(R"([{"peer":1,"blocks":2}])"));
    EXPECT_EQ(steps.at(1).at("operation"), "wait_signal");
    EXPECT_EQ(steps.at(1).at("recv"), Json::parse(R"([{"peer":1,"bytes":8,"offset":64}])"));
    EXPECT_EQ(steps.at(1).at("signals"), Json::parse(R"([{"peer":1,"blocks":1}])"));
}

TEST(PlanDocument, NoPlansGiveAnEmptyList) {
    EXPECT_EQ(Json::parse(plan_document(sample_plan_header(), std::vector<Plan>{})).at("plans"), Json::array());
}

TEST(PlanDocument, AnEmptyExchangeKeepsItsEmptyLists) {
    Plan plan;
    plan.me = 0;
    plan.groups = {{{0}}};
    plan.steps = {{Exchange{}, {}, "dispatch"}};
    Json const read = Json::parse(plan_document(sample_plan_header(), std::span<Plan const>(&plan, 1)));
    EXPECT_EQ(read.at("plans").at(0).at("steps").at(0).at("send"), Json::array());
    EXPECT_EQ(read.at("plans").at(0).at("steps").at(0).at("recv"), Json::array());
}

TEST(PlanDocument, HoldsEveryBlockOfAHundredRanks) {
    constexpr Rank ranks = 100;
    std::vector<Plan> plans(ranks);
    Group everyone;
    std::vector<Block> blocks;
    for (Rank rank = 0; rank < ranks; ++rank) {
        everyone.members.push_back(rank);
        blocks.push_back({rank, 0, static_cast<Bytes>(rank) + 1});
    }
    for (Rank me = 0; me < ranks; ++me) {
        plans[static_cast<std::size_t>(me)] = {
            me, {everyone}, {}, {{Exchange{0, 0, 0, blocks, blocks}, {}, "dispatch"}}};
    }
    Json const read = Json::parse(plan_document(sample_plan_header(), plans));
    std::uint64_t total = 0;
    for (Json const& plan : read.at("plans")) {
        for (Json const& block : plan.at("steps").at(0).at("send")) {
            total += block.at("bytes").get<std::uint64_t>();
        }
    }
    EXPECT_EQ(total, 100U * (100U * 101U / 2U));  // every rank sends 1 + 2 + ... + 100 bytes
}

}  // namespace
}  // namespace dlmb::record
