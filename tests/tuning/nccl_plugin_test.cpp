// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// What the plugin answers; through version 5 of the interface.
#include "tests/tuning/nccl_plugin.hpp"

#include <thread>

namespace dlmb::nccl_tuner {
namespace {

TEST(NcclPlugin, WritesOneCellOfTheFlatTable) {
    Table const table(two_rules);
    Communicator const communicator(8, 2);
    Costs<7> costs;
    EXPECT_EQ(communicator.ask(costs, all_reduce, std::size_t{5} << 30), 4);
    Costs<7> expected;
    expected.values[1 * 3 + 2] = 0.0F;  // ring is 1, simple is 2, rows of 3
    EXPECT_EQ(costs, expected);
}

TEST(NcclPlugin, TouchesNothingWithoutAMatch) {
    Table const table(two_rules);
    Communicator const communicator(8, 1);
    Costs<7> costs;
    for (std::size_t const bytes : {std::size_t{0}, std::size_t{1023}, std::size_t{65537}, std::size_t{1} << 40}) {
        EXPECT_EQ(communicator.ask(costs, all_reduce, bytes), 0);
    }
    EXPECT_EQ(communicator.ask(costs, all_gather, 2048), 0);
    EXPECT_EQ(costs, Costs<7>{});
}

TEST(NcclPlugin, NeverOverwritesWhatIsForbidden) {
    Table const table("allreduce,0,100,ring,ll128,9,-1,-1\nallreduce,101,200,pat,simple,-1,-1,-1\n");
    Communicator const communicator(8, 2);
    Counters const before = control().counters();
    Costs<7> costs;
    costs.at(ring, ll128) = forbidden;
    Costs<7> const as_given = costs;
    EXPECT_EQ(communicator.ask(costs, all_reduce, 8), 0);
    EXPECT_EQ(costs, as_given);
    Costs<6> without_pat;
    EXPECT_EQ(communicator.ask(without_pat, all_reduce, 150), 0);
    EXPECT_EQ(without_pat, Costs<6>{});
    Counters const after = control().counters();
    EXPECT_EQ(after.calls - before.calls, 2U);
    EXPECT_EQ(after.forbidden - before.forbidden, 2U);
    EXPECT_EQ(after.honoured, before.honoured);
}

TEST(NcclPlugin, TakesTheFirstLineThatMatches) {
    Table const table("allreduce,0,100,ring,ll,-1,-1,4\nallreduce,0,100,tree,ll,-1,-1,-1,-1\n");
    Costs<7> four;
    Communicator(4, 2).ask(four, all_reduce, 8);
    EXPECT_EQ(four.at(ring, ll), 0.0F);
    EXPECT_EQ(four.at(tree, ll), 10.0F);
    Costs<7> eight;
    Communicator(8, 2).ask(eight, all_reduce, 8);
    EXPECT_EQ(eight.at(tree, ll), 0.0F);
    EXPECT_EQ(eight.at(ring, ll), 10.0F);
}

TEST(NcclPlugin, HasNoRulesFromAFileThatIsNotRight) {
    for (char const* lines :
         {"allreduce,0,100,ring\n", "allreduce,0,100,ring,ll,-1,-1,-1\nallreduce,0,100,rong,ll,-1,-1,-1\n",
          "allreduce,100,0,ring,ll,-1,-1,-1\n", "allreduce,0,99999999999999999999,ring,ll,-1,-1,-1\n",
          "allreduce,-1,100,ring,ll,-1,-1,-1\n", "allreduce,0,100,ring,ll,-1,-1,-1,4\n",
          "allreduce,0,100,ring,ll,-1,-1,-1,-1,1\n",
          "colltype,minbytes,maxbytes,algorithm,protocol,channels,nNodes,nRanks\n", "\x01\x02"}) {
        Table const table(lines);
        Communicator const communicator(8, 2);
        Costs<7> costs;
        EXPECT_EQ(communicator.ask(costs, all_reduce, 8), 0) << lines;
        EXPECT_EQ(costs, Costs<7>{}) << lines;
    }
}

TEST(NcclPlugin, HasNoRulesWithoutAFile) {
    setenv("DLMB_NCCL_TABLE", "/nonexistent/table.csv", 1);
    Costs<7> costs;
    EXPECT_EQ(Communicator(8, 2).ask(costs, all_reduce, 8), 0);
    unsetenv("DLMB_NCCL_TABLE");
    EXPECT_EQ(Communicator(8, 2).ask(costs, all_reduce, 8), 0);
    EXPECT_EQ(costs, Costs<7>{});
    EXPECT_EQ(Communicator::plugin().get_coll_info(nullptr, all_reduce, 8, 1, costs.pointer(), 7, 3, 0, nullptr),
              success);
}

TEST(NcclPlugin, ForcesAndClears) {
    Table const table(two_rules);
    Communicator const communicator(8, 2);
    EXPECT_EQ(control().version, control_version);
    EXPECT_EQ(control().struct_size, sizeof(Control));
    ASSERT_EQ(control().force(all_reduce, ring, simple, 2), 0);
    Costs<7> forced;
    EXPECT_EQ(communicator.ask(forced, all_reduce, 1024), 2);
    EXPECT_EQ(forced.at(ring, simple), 0.0F);
    EXPECT_EQ(forced.at(tree, ll), 10.0F) << "the rule of the file does not act meanwhile";
    Costs<7> other;
    EXPECT_EQ(communicator.ask(other, all_gather, 1024), 0);
    EXPECT_EQ(other, Costs<7>{}) << "another function is not forced";
    control().clear();
    Costs<7> cleared;
    EXPECT_EQ(communicator.ask(cleared, all_reduce, 1024), 0);
    EXPECT_EQ(cleared.at(tree, ll), 0.0F);
    EXPECT_EQ(control().force(all_reduce, pat + 1, simple, 0), -1);
    EXPECT_EQ(control().force(all_reduce, ring, -1, 0), -1);
    EXPECT_EQ(control().force(function_count, ring, simple, 0), -1);
}

TEST(NcclPlugin, KeepsTwoCommunicatorsApart) {
    Table const table("allreduce,0,100,tree,ll,-1,-1,8\nallreduce,0,100,ring,ll,-1,-1,16\n");
    Communicator const small(8, 1);
    Communicator const large(16, 2);
    Costs<7> of_small;
    small.ask(of_small, all_reduce, 8);
    Costs<7> of_large;
    large.ask(of_large, all_reduce, 8);
    EXPECT_EQ(of_small.at(tree, ll), 0.0F);
    EXPECT_EQ(of_large.at(ring, ll), 0.0F);
    EXPECT_EQ(of_large.at(tree, ll), 10.0F);
}

TEST(NcclPlugin, AnswersTwoThreads) {
    Table const table(two_rules);
    Communicator const communicator(8, 2);
    Counters const before = control().counters();
    constexpr std::uint64_t questions = 10000;
    auto const ask = [&] {
        for (std::uint64_t i = 0; i < questions; ++i) {
            Costs<7> costs;
            communicator.ask(costs, all_reduce, 1024);
            ASSERT_EQ(costs.at(tree, ll), 0.0F);
        }
    };
    std::thread other(ask);
    ask();
    other.join();
    EXPECT_EQ(control().counters().honoured - before.honoured, 2 * questions);
}

}  // namespace
}  // namespace dlmb::nccl_tuner
