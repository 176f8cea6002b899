// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Trees of ours, made from a small base tree of the same form as MPICH's; what stands at its leaves is "BASE".
#include "common/base/error.hpp"
#include "common/tools/tune/exporters/export.hpp"
#include "tests/unit/tuning_export/agreement.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <bit>
#include <cctype>
#include <cstdlib>
#include <optional>
#include <string>

namespace dlmb::tuning::mpich_test {
namespace {

using Tree = nlohmann::ordered_json;

/// As csel.c walks a tree: keys in their order, the first that holds; a number is read with atoi.
struct Call {
    std::string collective;
    std::uint64_t ranks = 1;
    std::uint64_t average = 0;
    std::uint64_t total = 0;
    bool in_place = false;
    bool built_in = true;
    bool commutative = true;
    bool long_vector = true;
    bool nodes = true;  // has subcommunicators for nodes
};

bool number_holds(std::string const& key, std::string_view name, std::uint64_t value) {
    std::string const rest = key.substr(name.size());
    if (rest == "=any") {
        return true;
    }
    if (rest == "=pow2") {
        return std::has_single_bit(value);
    }
    bool const with_end = rest.starts_with("<=");
    EXPECT_TRUE(with_end || rest.starts_with("<")) << key;
    auto const bound = static_cast<std::uint64_t>(std::atoi(rest.substr(with_end ? 2 : 1).c_str()));
    return with_end ? value <= bound : value < bound;
}

bool holds(std::string const& key, Call const& call) {
    auto const yes_no = [&](std::string_view name, bool value) {
        return key.starts_with(name) ? std::optional{key.ends_with(value ? "=yes" : "=no")} : std::nullopt;
    };
    if (key.starts_with("avg_msg_size")) {
        bool const known =
            call.collective == "allreduce" || call.collective == "bcast" || call.collective == "alltoall";
        EXPECT_TRUE(known) << "4.0.2 aborts on avg_msg_size in " << call.collective;
        return number_holds(key, "avg_msg_size", call.average);
    }
    if (key.starts_with("total_msg_size")) {
        return number_holds(key, "total_msg_size", call.total);
    }
    if (key.starts_with("comm_size")) {
        return number_holds(key, "comm_size", call.ranks);
    }
    if (key.starts_with("comm_hierarchy")) {
        return call.nodes || key.ends_with("=any");
    }
    if (key.starts_with("count<pow2")) {
        return !call.long_vector;
    }
    return yes_no("is_sendbuf_inplace", call.in_place)
        .value_or(yes_no("is_commutative", call.commutative)
                      .value_or(yes_no("is_op_built_in", call.built_in)
                                    .value_or(key == "comm_type=intra" || key == "count=any" ||
                                              key == "collective=" + call.collective)));
}

std::string walk(Tree const& tree, Call const& call) {
    for (auto const& [key, below] : tree.items()) {
        if (key.starts_with("algorithm=")) {
            return key.substr(std::string("algorithm=").size());
        }
        if (holds(key, call)) {
            return walk(below, call);
        }
    }
    ADD_FAILURE() << "no branch for " << call.collective;
    return "";
}

/// "MPIR_Reduce_scatter_block_".
std::string leaf_prefix(std::string collective) {
    collective.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(collective.front())));
    return "MPIR_" + collective + "_";
}

MpichInfo small_library() {
    MpichInfo info{"", {}, "small.so", "4.0.2"};
    Tree tree;
    for (std::string const collective :
         {"bcast", "allreduce", "allgather", "alltoall", "alltoallv", "reduce_scatter_block", "barrier"}) {
        tree["collective=" + collective] = {
            {"comm_type=intra", {{"comm_size=any", {{"algorithm=BASE", Tree::object()}}}}},
            {"comm_type=inter", {{"algorithm=BASE", Tree::object()}}}};
        info.algorithms.insert(leaf_prefix(collective) + "allcomm_nb");
        for (std::string const name :
             {"brucks", "recursive_doubling", "ring", "reduce_scatter_allgather", "smp", "pairwise", "scattered",
              "binomial", "scatter_ring_allgather", "recursive_halving"}) {
            info.algorithms.insert(leaf_prefix(collective) + "intra_" + name);
        }
    }
    info.tree = tree.dump();
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
    Tree const smp = spliced(make_rule(shape(), TunedOperation::allreduce, "smp", {4, 4}, {0, 1000}));
    EXPECT_EQ(run(smp, {.collective = "allreduce", .ranks = 4}), "smp");
    EXPECT_EQ(run(smp, {.collective = "allreduce", .ranks = 4, .commutative = false}), "");
    EXPECT_EQ(run(smp, {.collective = "allreduce", .ranks = 4, .nodes = false}), "") << "its sums would be wrong";
    Rule rule = make_rule(shape(), TunedOperation::exchange, "scattered", {4, 4}, {0, 1000});
    rule.when.uniform = true;
    EXPECT_EQ(run(spliced(rule), {.collective = "alltoall", .ranks = 4, .in_place = true}), "");
    Tree const rabenseifner =
        spliced(make_rule(shape(), TunedOperation::allreduce, "reduce_scatter_allgather", {4, 4}, {0, 1000}));
    EXPECT_EQ(run(rabenseifner, {.collective = "allreduce", .ranks = 4}), "reduce_scatter_allgather");
    EXPECT_EQ(run(rabenseifner, {.collective = "allreduce", .ranks = 4, .built_in = false}), "");
    EXPECT_EQ(run(rabenseifner, {.collective = "allreduce", .ranks = 4, .long_vector = false}), "");
}

TEST(MpichExport, SaysThatAllToAllsInPlaceAreTheLibrarys) {
    auto const notes = [](std::string const& algorithm) {
        Rule rule = make_rule(shape(), TunedOperation::exchange, algorithm, {4, 4}, {0, 1000});
        rule.when.uniform = true;
        return to_mpich(table_of({rule}), {{}, "host", "", ""}, small_library()).notes;
    };
    EXPECT_EQ(notes("scattered").back(), "all-to-alls in place are the library's own choice");
    EXPECT_EQ(notes("nb").size() + 1, notes("scattered").size());
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
