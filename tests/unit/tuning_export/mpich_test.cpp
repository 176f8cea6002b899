// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Trees of ours, made from a small base tree of the same form as MPICH's; what stands at its leaves is "BASE".
#include "common/base/error.hpp"
#include "common/tools/tune/exporters/export.hpp"
#include "tests/unit/tuning_export/agreement.hpp"
#include "tests/unit/tuning_export/mpich_tree.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace dlmb::tuning::mpich_test {
namespace {

std::string const& leaf_prefix(std::string const& collective) {
    static std::map<std::string, std::string> const prefixes{
        {"allgather", "MPIR_Allgather_"}, {"allreduce", "MPIR_Allreduce_"},
        {"alltoall", "MPIR_Alltoall_"},   {"alltoallv", "MPIR_Alltoallv_"},
        {"bcast", "MPIR_Bcast_"},         {"reduce_scatter_block", "MPIR_Reduce_scatter_block_"}};
    return prefixes.at(collective);
}

MpichInfo small_library() {
    MpichInfo info{"", {}, "small.so", "4.0.2"};
    Tree tree;
    for (std::string const collective :
         {"bcast", "allreduce", "allgather", "alltoall", "alltoallv", "reduce_scatter_block", "barrier"}) {
        tree["collective=" + collective] = {
            {"comm_type=intra", {{"comm_size=any", {{"algorithm=BASE", Tree::object()}}}}},
            {"comm_type=inter", {{"algorithm=BASE", Tree::object()}}}};
    }
    info.tree = tree.dump();
    for (std::string const collective :
         {"allgather", "allreduce", "alltoall", "alltoallv", "bcast", "reduce_scatter_block"}) {
        info.algorithms.insert(leaf_prefix(collective) + "allcomm_nb");
        for (std::string const name :
             {"brucks", "recursive_doubling", "ring", "reduce_scatter_allgather", "smp", "pairwise", "scattered",
              "binomial", "scatter_ring_allgather", "recursive_halving"}) {
            info.algorithms.insert(leaf_prefix(collective) + "intra_" + name);
        }
    }
    return info;
}

Call call_at(Point const& point) {
    switch (point.operation) {
    case TunedOperation::allreduce:
        return {"allreduce", point.ranks, point.bytes, point.bytes * point.ranks};
    case TunedOperation::broadcast:
        return {"bcast", point.ranks, point.bytes, 0};
    case TunedOperation::allgather:
        return {"allgather", point.ranks, 0, point.bytes};
    case TunedOperation::reduce_scatter:
        return {"reduce_scatter_block", point.ranks, 0, point.bytes};
    default:
        return {point.uniform ? "alltoall" : "alltoallv", point.ranks, point.bytes / point.ranks, point.bytes};
    }
}

std::string run(Tree const& tree, Call const& call) {
    std::string leaf = walk(tree, call);
    if (leaf == "BASE") {
        return "";
    }
    leaf = leaf.substr(leaf_prefix(call.collective).size());
    return leaf.substr(leaf.find('_') + 1);  // after "intra" or "allcomm"
}

TableShape shape() {
    return {"mpi",
            "mpich",
            "host",
            "",
            {{TunedOperation::allreduce, false, {"recursive_doubling", "reduce_scatter_allgather", "smp", "nb"}},
             {TunedOperation::broadcast, false, {"binomial", "scatter_ring_allgather", "unheard_of"}},
             {TunedOperation::allgather, false, {"brucks", "ring", "recursive_doubling"}},
             {TunedOperation::reduce_scatter, false, {"pairwise", "recursive_halving", "recursive_doubling"}},
             {TunedOperation::exchange, true, {"brucks", "pairwise", "scattered", "pairwise_sendrecv_replace"}},
             {TunedOperation::exchange, false, {"scattered", "nb"}}}};
}

Tree spliced(Rule const& rule) {
    Export const made = to_mpich(table_of({rule}), {{}, "host", "", ""}, small_library());
    EXPECT_TRUE(made.lost.empty());
    return Tree::parse(made.files.at(0).text);
}

TEST(MpichExport, SaysWhatTheTableSays) {
    expect_agreement(shape(), [](TuningTable const& table, std::vector<Lost>& lost) {
        Export const made = to_mpich(table, {{}, "host", "fp32", ""}, small_library());
        lost = made.lost;
        return [tree = Tree::parse(made.files.at(0).text)](Point const& point) { return run(tree, call_at(point)); };
    });
}

TEST(MpichExport, LeavesEverythingElseOfTheTreeAsItIs) {
    Tree const tree = spliced(make_rule(shape(), TunedOperation::allreduce, "smp", {4, 4}, {0, 1000}));
    Tree const base = Tree::parse(small_library().tree);
    ASSERT_EQ(tree.size(), base.size());
    for (auto const& [key, below] : base.items()) {
        EXPECT_TRUE(key == "collective=allreduce" || tree.at(key) == below) << key;
    }
    EXPECT_EQ(tree["collective=allreduce"]["comm_type=inter"], base["collective=allreduce"]["comm_type=inter"]);
}

TEST(MpichExport, KeepsTheDefaultWhereALeafWouldBeWrong) {
    Tree const pairwise = spliced(make_rule(shape(), TunedOperation::reduce_scatter, "pairwise", {4, 4}, {0, 1000}));
    EXPECT_EQ(run(pairwise, {.collective = "reduce_scatter_block", .ranks = 4, .commutative = false}), "");
    Rule rule = make_rule(shape(), TunedOperation::exchange, "scattered", {4, 4}, {0, 1000});
    rule.when.uniform = true;
    EXPECT_EQ(run(spliced(rule), {.collective = "alltoall", .ranks = 4, .in_place = true}), "");
    Tree const rabenseifner =
        spliced(make_rule(shape(), TunedOperation::allreduce, "reduce_scatter_allgather", {4, 4}, {0, 1000}));
    EXPECT_EQ(run(rabenseifner, {.collective = "allreduce", .ranks = 4}), "reduce_scatter_allgather");
    EXPECT_EQ(run(rabenseifner, {.collective = "allreduce", .ranks = 4, .built_in = false}), "");
    EXPECT_EQ(run(rabenseifner, {.collective = "allreduce", .ranks = 4, .long_vector = false}), "");
}

TEST(MpichExport, ClampsAtTheLargestNumberThatAtoiReads) {
    TuningTable const table =
        table_of({make_rule(shape(), TunedOperation::allreduce, "nb", {4, 4}, {Bytes{1} << 31, Bytes{1} << 32}),
                  make_rule(shape(), TunedOperation::allreduce, "smp", {5, 5}, {1024, Bytes{1} << 32}),
                  make_rule(shape(), TunedOperation::allreduce, "smp", {6, 6}, {1024, no_limit})});
    Export const made = to_mpich(table, {{}, "host", "", ""}, small_library());
    ASSERT_EQ(made.lost.size(), 2U);
    EXPECT_EQ(made.lost[0].why, LostReason::range_limit);
    EXPECT_EQ(made.lost[1], (Lost{"r1", LostReason::range_limit, made.lost[1].detail}));
    Tree const tree = Tree::parse(made.files.at(0).text);
    EXPECT_EQ(run(tree, {"allreduce", 5, 2147483647}), "smp");
    EXPECT_EQ(run(tree, {"allreduce", 5, 2147483648}), "");
    EXPECT_EQ(run(tree, {"allreduce", 6, Bytes{1} << 40}), "smp");
}

TEST(MpichExport, LosesWhatTheRanksOfANodeDoWithoutTheTreeFrom4_1On) {
    TuningTable const table = table_of({make_rule(shape(), TunedOperation::allreduce, "smp", {4, 4}, {0, 1000}),
                                        make_rule(shape(), TunedOperation::broadcast, "binomial", {4, 4}, {0, 1000}),
                                        make_rule(shape(), TunedOperation::allgather, "ring", {4, 4}, {0, 1000})});
    for (std::string const version : {"4.1.3", "5.0.2", ""}) {
        MpichInfo library = small_library();
        library.version = version;
        Export const made = to_mpich(table, {{}, "host", "", ""}, library);
        ASSERT_EQ(made.lost.size(), 2U) << version;
        EXPECT_EQ(made.lost[0], (Lost{table.rules[0].id, LostReason::operation_not_tunable, made.lost[0].detail}));
        EXPECT_EQ(made.lost[1], (Lost{"r1", LostReason::operation_not_tunable, made.lost[1].detail}));
        EXPECT_EQ(run(Tree::parse(made.files.at(0).text), {"allgather", 4, 0, 1000}), "ring");
    }
}

TEST(MpichExport, RefusesALibraryWithoutATree) {
    EXPECT_THROW((void)read_mpich("/dev/null"), UsageError);
    EXPECT_THROW((void)read_mpich("/nonexistent"), UsageError);
    EXPECT_THROW((void)to_mpich({}, {}, {"{", {}, "broken.so", "4.0.2"}), UsageError);
}

}  // namespace
}  // namespace dlmb::tuning::mpich_test
