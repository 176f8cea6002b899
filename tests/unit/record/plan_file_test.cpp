// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// A plan file has a known text and holds all of a plan; its reader refuses what it cannot read.
#include "common/formats/plan_file/plan_buffers.hpp"
#include "common/formats/plan_file/plan_file.hpp"
#include "common/formats/record/json.hpp"
#include "tests/unit/plan_round_trip.hpp"
#include "tests/unit/record/sample_records.hpp"
#include "tests/unit/usage_error_of.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

namespace dlmb::record {
namespace {

using ::testing::HasSubstr;

std::vector<Json> lines_of(std::string const& text) {
    std::vector<Json> lines;
    std::istringstream stream(text);
    for (std::string line; std::getline(stream, line);) {
        lines.push_back(Json::parse(line));
    }
    return lines;
}

Json sample_line(std::size_t number) {
    return lines_of(plan_lines(sample_plan_header(), sample_plans())).at(number);
}

// Lines of the sample: the header, group 0, and ranks 1 and 3.
Json step(std::size_t plan, std::size_t id) {
    return sample_line(2 + plan).at("steps").at(id);
}

TEST(PlanFile, FirstLineNamesWhatThePlansWereMadeFrom) {
    Json head = sample_line(0);
    EXPECT_EQ(head.at("schema"), "dlmb.plan/2.0");
    EXPECT_EQ(head.at("pattern"), "moe_alltoall");
    EXPECT_EQ(head.at("parameters").at("hidden"), 2048);
    EXPECT_EQ(head.at("parameters").at("skew"), "lognormal:0.3");
    EXPECT_EQ(head.at("world"), (Json{{"ranks", 4}, {"ranks_per_node", 2}}));
    EXPECT_EQ(head.at("draw"), (Json{{"seed", 7}, {"index", 3}}));
    EXPECT_EQ(head.at("statistics").at("gini_rank"), 0.25);
}

TEST(PlanFile, AGroupIsNamedOnceAndPeersAreWorldRanks) {
    EXPECT_EQ(sample_line(1), (Json{{"group", 0}, {"members", {1, 3}}}));
    EXPECT_EQ(sample_line(2).at("groups"), Json::array({0}));
    EXPECT_EQ(sample_line(3).at("groups"), Json::array({0}));
    Json const exchange = step(0, 0);
    EXPECT_EQ(exchange.at("group"), 0);
    EXPECT_EQ(exchange.at("send"), Json::parse(R"([{"peer":1,"bytes":256},{"peer":3,"bytes":256,"offset":256}])"));
    EXPECT_EQ(step(0, 5).at("root"), 3);
    EXPECT_EQ(step(0, 1).at("to"), Json::parse(R"({"peer":3,"bytes":64})"));
    EXPECT_EQ(step(1, 1).at("from"), Json::parse(R"({"peer":1,"bytes":64})"));
}

TEST(PlanFile, HeaderIsReadBack) {
    PlanHeader const header = sample_plan_header();
    PlanHeader const read = read_plan_header("name", plan_lines(header, sample_plans()));
    EXPECT_EQ(read.pattern, header.pattern);
    EXPECT_EQ(read.parameters, header.parameters);
    EXPECT_EQ(read.world, header.world);
    EXPECT_EQ(read.draw, header.draw);
    EXPECT_EQ(read.statistics, header.statistics);
    EXPECT_EQ(read.file, "name");
}

TEST(PlanFile, ALongPlanIsSeveralLinesOfItsRank) {
    Plan plan{0, {{{0}}}, {}, {}};
    for (StepId id = 0; id < 20'000; ++id) {
        plan.steps.push_back({Barrier{0}, id == 0 ? std::vector<StepId>{} : std::vector<StepId>{id - 1}, "wait"});
    }
    std::vector<Plan> const plans{plan};
    EXPECT_EQ(round_trip_problem(plans), "");
    std::vector<Json> const lines = lines_of(plan_lines(sample_plan_header(), plans));
    ASSERT_GT(lines.size(), 4U);
    EXPECT_EQ(lines[2].at("step_count"), 20'000);
    EXPECT_FALSE(lines[3].contains("step_count"));
    EXPECT_EQ(lines[3].at("rank"), 0);
    EXPECT_EQ(lines[3].at("steps").at(0).at("id"), lines[2].at("steps").size());
}

TEST(PlanFile, WhatMovesAndPacksRowsIsReadBack) {
    Plan plan{0, {{{0}}}, {{"rows", 4096}, {"travel", 4096, true}, {"numbers", 4096}}, {}};
    Exchange exchange{0, 0, 1, {{0, 0, 48}}, {{0, 0, 48}}};
    exchange.scattered = ScatteredRows{24, {{{2, 0, 48}}, {0, 48}}, {{{1, 88, 24}, {1, 64, 24}}, {}}};
    Conversion const conversion{PackDirection::unpack,
                                {Code::int4, 32, ScaleType::e8m0},
                                Element::bf16,
                                2,
                                1,
                                {{2, 33, 0, 0}, {1, 33, 256, 64}},
                                Processor::device,
                                {3, 1, 2}};
    Rearrangement const rows{PackDirection::pack, Processor::host, 24, 0, 1, {{2, 0, 64, 48, 24}, {1, 24, 112, 24, 24}},
                             {0, 24, 48}};
    plan.steps = {{exchange, {}, "dispatch"},
                  {Compute{.conversion = conversion}, {0}, "unpack.dispatch", 3},
                  {Compute{.rearrangement = rows}, {0, 1}, "pack.combine"},
                  {Compute{7, ProductShape{1, 2, 3}, true}, {}, "experts"}};
    EXPECT_EQ(round_trip_problem({plan}), "");
}

TEST(PlanFile, WindowsChannelsAndUnevenPartsAreReadBack) {
    std::vector<Plan> plans;
    for (Rank me : {0, 1}) {
        Plan plan{me, {{{1, 0}}}, {{"data", 8192}}, {}};
        if (me == 0) {
            plan.steps = {{Send{0, 0, {0, 64, 32}, 5, -1, {4, 40}}, {}, "send"}};
        } else {
            plan.steps = {{Recv{0, 0, {1, 64, 32}, 5, 2, {4, 0}}, {}, "recv", 0}};
        }
        plan.steps.push_back(
            {Collective{OperationKind::all_gather, 0, 0, {0, 512}, {0, 1024}, 24, Element::int64, {}, {16, 8}},
             {0},
             "gather"});
        Region const scattered{0, me == 0 ? Bytes{0} : Bytes{2048}};  // of the root; others have no such region
        plan.steps.push_back(
            {Collective{OperationKind::scatter, 0, 1, scattered, {0, 2048}, 8, Element::fp16, {}, {2, 6}},
             {1},
             "scatter"});
        plan.steps.push_back(
            {Collective{OperationKind::broadcast, 0, 0, {0, 4096}, {0, 4096}, 3, Element::byte}, {1}, "broadcast"});
        plan.steps.push_back({Exchange{}, {}, "nothing"});
        plans.push_back(plan);
    }
    EXPECT_EQ(round_trip_problem(plans), "");
}

// Rank 1 puts two blocks before one signal of rank 0, and rank 0 waits for it.
TEST(PlanFile, PutsTheirPlacesAtTheReceiverAndTheirSignalsAreReadBack) {
    Plan receiver{0, {{{1, 0}}}, {{"slots", 512}}, {}};
    receiver.steps = {
        {WaitSignal{OperationKind::wait_signal, 0, 0, {{0, 64, 100}, {0, 256, 40}}, {{0, 2}}}, {}, "there.wait"}};
    Plan sender{1, {{{1, 0}}}, {{"rows", 512}}, {}};
    sender.steps = {{Put{OperationKind::put, 0, 0, {{1, 0, 100}, {1, 128, 40}}, {64, 256}, {{1, 2}}}, {}, "there.put"}};
    EXPECT_EQ(round_trip_problem({receiver, sender}), "");
}

TEST(PlanFile, OffersAndGetsAreReadBack) {
    Plan owner{0, {{{0, 1}}}, {{"pages", 512}}, {}};
    owner.steps = {{Put{OperationKind::offer, 0, 0, {{1, 0, 100}, {1, 128, 40}}, {}, {{1, 2}}}, {}, "pages.offer"}};
    Plan reader{1, {{{0, 1}}}, {{"cache", 512}}, {}};
    reader.steps = {{WaitSignal{OperationKind::get, 0, 0, {{0, 64, 100}, {0, 256, 40}}, {{0, 2}}}, {}, "pages.get"}};
    EXPECT_EQ(round_trip_problem({owner, reader}), "");
}

TEST(PlanFile, APlanWithoutBuffersIsLaidOutByWhoRunsIt) {
    Plan const bare{
        0,
        {{{0}}},
        {},
        {{Collective{OperationKind::all_reduce, 0, 0, {}, {}, 512, Element::fp32, Reduction::max}, {}, "sum"}}};
    EXPECT_EQ(round_trip_problem({bare}), "");
    PlanHeader header = sample_plan_header();
    header.world = {1, 1};
    PlanTestFile const file(plan_lines(header, std::vector<Plan>{bare}));
    EXPECT_EQ(read_plan_file(file.path()).plans.front(), with_buffers(bare, 0));
}

TEST(PlanFile, AnotherHeaderBeginsAnotherIteration) {
    PlanHeader header = sample_plan_header();
    header.world = {1, 1};
    std::string const one = plan_lines(header, std::vector<Plan>{{0, {{{0}}}, {}, {{Barrier{0}, {}, "end"}}}});
    PlanTestFile const file(one + one);
    EXPECT_EQ(read_back(file.path()).size(), 2U);
    EXPECT_THAT(usage_error_of([&] { (void)read_plan_file(file.path()); }), HasSubstr("more than one"));
}

TEST(PlanFile, RefusesInOneLineThatNamesTheLineAndTheField) {
    std::string const good =
        "{\"schema\":\"dlmb.plan/2.0\",\"pattern\":\"x\",\"preset\":\"\",\"parameters\":{},\"world\":{\"ranks\":2,"
        "\"ranks_per_node\":1},\"draw\":{\"seed\":1,\"index\":0},\"statistics\":{}}\n"
        "{\"group\":0,\"members\":[0,1]}\n"
        "{\"rank\":0,\"groups\":[0],\"step_count\":1,\"steps\":[{\"id\":0,\"operation\":\"send\",\"label\":\"a\","
        "\"after\":[],\"group\":0,\"to\":{\"peer\":1,\"bytes\":8},\"channel\":0,\"batch\":-1}]}\n"
        "{\"rank\":1,\"groups\":[0],\"step_count\":1,\"steps\":[{\"id\":0,\"operation\":\"recv\",\"label\":\"a\","
        "\"after\":[],\"group\":0,\"from\":{\"peer\":0,\"bytes\":8},\"channel\":0,\"batch\":-1}]}\n";
    auto const refused = [&](std::string const& text) {
        PlanTestFile const file(text);
        std::string const why = usage_error_of([&] { (void)read_plan_file(file.path()); });
        return why.substr(std::min(why.size(), file.path().string().size()));
    };
    auto const with = [&](std::string const& old, std::string const& text) {
        std::string changed = good;
        EXPECT_THAT(good, HasSubstr(old)) << old;
        return refused(changed.replace(good.find(old), old.size(), text));
    };
    EXPECT_EQ(refused(good), "");
    EXPECT_THAT(with("dlmb.plan/2.0", "dlmb.plan/1.1"), HasSubstr("write it again with --plan jsonl"));
    EXPECT_THAT(with("dlmb.plan/2.0", "dlmb.result/2.0"), HasSubstr("line 1: schema is \"dlmb.result/2.0\""));
    EXPECT_THAT(with("\"pattern\":\"x\",", ""), HasSubstr("line 1: pattern: is missing"));
    for (char const* const parameters : {"[1,2]", "5"}) {
        EXPECT_THAT(with("\"parameters\":{}", std::string("\"parameters\":") + parameters),
                    HasSubstr("line 1: parameters: must be an object"));
    }
    EXPECT_THAT(refused("{}\n"), HasSubstr("has no schema"));
    EXPECT_THAT(refused(""), HasSubstr("is empty"));
    EXPECT_THAT(with("\"peer\":1", "\"peer\":2"), HasSubstr("line 3: steps[0].to: rank 2 is not in the group"));
    EXPECT_THAT(with("\"send\"", "\"sned\""), HasSubstr("line 3: steps[0].operation: unknown operation 'sned'"));
    EXPECT_THAT(with("\"bytes\":8", "\"bytes\":-8"), HasSubstr("line 3: steps[0].to.bytes: "));
    EXPECT_THAT(with("\"bytes\":8", "\"bytes\":4611686018427387905"), HasSubstr("more than 2^62"));
    EXPECT_THAT(with("\"after\":[]", "\"after\":[0]"), HasSubstr("not an earlier one"));
    EXPECT_THAT(with("\"groups\":[0]", "\"groups\":[1]"), HasSubstr("1 is not a group"));
    EXPECT_THAT(with("\"group\":0,\"to\"", "\"group\":3,\"to\""), HasSubstr("3 is not in the groups of rank 0"));
    EXPECT_THAT(with("[0,1]", "[0,2]"), HasSubstr("line 2: members: has rank 2"));
    EXPECT_THAT(with("[0,1]", "[0,0]"), HasSubstr("line 2: members: has rank 0 twice"));
    EXPECT_THAT(with("\"rank\":1", "\"rank\":0"), HasSubstr("plans stand in the order of ranks"));
    EXPECT_THAT(with("\"step_count\":1", "\"step_count\":2"), HasSubstr("rank 0 has 1 of its 2 steps"));
    EXPECT_THAT(refused(good.substr(0, good.rfind("{\"rank\":1"))), HasSubstr("has 1 plans, and world.ranks is 2"));
    EXPECT_THAT(with("\"channel\":0", "\"channel\":1"), HasSubstr("do not fit together"));
}

TEST(PlanFile, HoldsEveryBlockOfAHundredRanks) {
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
    EXPECT_EQ(round_trip_problem(plans), "");
}

}  // namespace
}  // namespace dlmb::record
