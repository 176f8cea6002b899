// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// DaCeML (arXiv 2110.10802): transformations of a plan change how many messages there are and when, never how many
// bytes travel from whom to whom, and the graph of a plan has all its bytes on its edges. Every transformation on the
// plans of every pattern of the build.
#include "common/base/error.hpp"
#include "common/base/units.hpp"
#include "common/formats/plan/plan_text.hpp"
#include "common/formats/plan/traffic.hpp"
#include "common/formats/plan/transform/transform.hpp"
#include "tests/unit/patterns/pattern_under_test.hpp"
#include "tests/unit/patterns/registered.hpp"
#include "tests/unit/plan_round_trip.hpp"
#include "tests/unit/usage_error_of.hpp"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>

namespace dlmb {
namespace {

/// Short plans of a pattern, of each kind that it has.
std::vector<Parameters> variants(std::string_view pattern) {
    if (pattern == "moe_alltoall") {
        return {{{"tokens", "16"}, {"layers", "2"}, {"direction", "both"}, {"probs", "on"}},
                {{"tokens", "16"}, {"wire", "padded"}},
                {{"tokens", "16"}, {"hidden", "33"}, {"layers", "2"}, {"quantize", "int4:32:fp32"}},
                {{"tokens", "16"}, {"wire", "rank_dedup"}, {"quantize", "mxfp8"}, {"quantize-combine", "mxfp8"}}};
    }
    if (pattern == "tp_allreduce") {
        return {{}, {{"layers", "2"}, {"sequence-parallel", "on"}, {"quantize", "mxfp8"}}};
    }
    if (pattern == "dp_gradients") {
        Parameters const packed{{"scheme", "fsdp"}, {"model", "flat"}, {"quantize", "int8:128:fp32"}};
        Parameters odd = packed;
        odd["parameters"] = "1001";  // rows that end within a block
        return {
            {}, packed, odd, {{"scheme", "zero3"}, {"model", "gpt-19m"}, {"quantize", "mxfp4"}, {"in-flight", "4"}}};
    }
    if (pattern == "kv_transfer") {
        return {{{"layers", "4"}, {"tokens", "64"}}, {{"layers", "4"}, {"tokens", "64"}, {"compute-ns", "1000"}}};
    }
    if (pattern == "sparse_allreduce") {
        return {{{"density", "0.0001"}}, {{"density", "0.0001"}, {"algorithm", "recursive_sparse"}}};
    }
    if (pattern == "collective") {
        std::vector<Parameters> all;
        for (char const* operation : {"allreduce", "allgather", "reduce_scatter", "broadcast", "reduce", "gather",
                                      "scatter", "alltoall", "allgatherv", "barrier", "bandwidth"}) {
            bool const sized = std::string_view(operation) != "barrier";
            all.push_back({{"operation", operation}, {"message-size", sized ? "4096" : "0"}});
        }
        all.push_back({{"operation", "alltoall"}, {"message-size", "4096"}, {"in-place", "on"}});
        return all;
    }
    if (pattern == "dlrm_exchange") {
        return {{{"sharding", "mixed"}, {"lookup-ns", "1000"}, {"weighted", "on"}}, {{"overlap", "off"}}};
    }
    if (pattern == "pipeline_p2p") {
        Parameters const computing{{"compute", "busy"}, {"forward-us", "10"}, {"backward-us", "20"}};
        Parameters batched = computing;
        batched["schedule"] = "interleaved";
        batched["virtual-stages"] = "2";
        return {{}, computing, batched};
    }
    if (pattern == "sequence_parallel") {
        return {{}, {{"compute-ns", "1000"}, {"kind", "ring"}}};
    }
    return {{}};
}

/// The plans of all ranks; `parameters` may have a "transform", which they get as dlmb_plan transform does it.
std::vector<Plan> plans_of_type(PatternType const& type, Parameters parameters, WorldShape const& world) {
    auto const list = parameters.extract("transform");
    auto const pattern = make_pattern(type, "", parameters, world);
    std::vector<Transform> const transforms = parse_transforms(list ? list.mapped() : "none");
    for (Transform const& transform : transforms) {
        if (std::string const why = why_not_applicable(transform, pattern->operations()); !why.empty()) {
            throw UsageError(why);
        }
    }
    return transformed(build_all(*pattern, world, {}), transforms);
}

/// What travels: from rank to rank, and by collectives of a group.
struct Carried {
    std::vector<std::vector<Bytes>> pairs;
    std::map<std::tuple<std::vector<Rank>, OperationKind, Rank>, Bytes> collectives;
    std::size_t steps = 0;
    Nanoseconds computed_ns = 0;
    Bytes converted = 0;  // by steps that pack and unpack: numbers and rows
};

Bytes converted_by(Conversion const& conversion) {
    Bytes sum = 0;
    for (RowBlock const& block : conversion.blocks) {
        sum += conversion.number_bytes(block) + conversion.packed_bytes(block);
    }
    return sum;
}

Carried carried_by(std::vector<Plan> const& plans) {
    Carried carried{{plans.size(), std::vector<Bytes>(plans.size())}, {}, 0, 0, 0};
    for (Plan const& plan : plans) {
        add_sent_bytes(plan, "", carried.pairs[static_cast<std::size_t>(plan.me)]);
        carried.steps += plan.steps.size();
        for (Step const& step : plan.steps) {
            std::visit(
                [&](auto const& operation) {
                    if constexpr (requires { operation.bytes; }) {
                        Rank const root = has_root(operation.kind) ? operation.root : -1;
                        carried.collectives[{plan.groups[operation.group].members, kind_of(step.operation), root}] +=
                            operation.bytes;
                    } else if constexpr (requires { operation.busy_ns; }) {
                        carried.computed_ns += operation.busy_ns;
                        carried.converted += operation.conversion ? converted_by(*operation.conversion) : 0;
                    }
                },
                step.operation);
        }
    }
    return carried;
}

bool inapplicable(std::string_view refusal) {
    return refusal.find("these plans have no") != std::string_view::npos ||
           refusal.find("receives in memory that other steps use") != std::string_view::npos ||
           refusal.find("in the order in which they are sent") != std::string_view::npos ||
           refusal.find("packs or moves rows") != std::string_view::npos;
}

/// The labels of a graph's edges, added up.
Bytes bytes_on_edges(std::vector<Plan> const& plans) {
    Bytes sum = 0;
    write_dot(plans, [&](std::string_view text) {
        for (std::string_view const line : split(text, "\n")) {
            constexpr std::string_view label = "[label=\"";
            std::size_t const begin = line.find(label);
            if (line.find(" -> ") != std::string_view::npos && begin != std::string_view::npos) {
                std::string_view const number = line.substr(begin + label.size());
                sum += parse_whole<Bytes>(number.substr(0, number.find('"'))).value();
            }
        }
    });
    return sum;
}

TEST(Dot, HasTheBytesOfEveryPatternOnItsEdges) {
    for (PatternType const* type : pattern_types()) {
        for (Parameters const& parameters : variants(type->name)) {
            WorldShape const world{4, 4};
            std::vector<Plan> const plans = build_all(*make_pattern(*type, "", parameters, world), world, {});
            Carried const carried = carried_by(plans);
            Bytes bytes = 0;
            for (std::vector<Bytes> const& row : carried.pairs) {
                bytes = std::accumulate(row.begin(), row.end(), bytes);
            }
            for (auto const& [key, each] : carried.collectives) {
                bytes += each;
            }
            EXPECT_EQ(bytes_on_edges(plans), bytes) << type->name;
        }
    }
}

class EveryTransform : public testing::TestWithParam<char const*> {};

TEST_P(EveryTransform, MovesTheSameBytesBetweenTheSameRanksInEveryPattern) {
    int applied = 0;
    for (PatternType const* type : pattern_types()) {
        for (Parameters const& parameters : variants(type->name)) {
            Parameters changed = parameters;
            changed["transform"] = GetParam();
            for (int const ranks : {2, 4, 8}) {
                WorldShape const world{ranks, 4};
                std::string const where = fmt::format("{} on {} ranks", type->name, ranks);
                std::vector<Plan> before;
                std::vector<Plan> after;
                std::string refused = usage_error_of([&] { before = plans_of_type(*type, parameters, world); });
                if (refused != "accepted") {
                    EXPECT_EQ(ranks, 8) << "too many for some defaults: " << where << ": " << refused;
                    continue;
                }
                refused = usage_error_of([&] { after = plans_of_type(*type, changed, world); });
                if (refused != "accepted") {
                    EXPECT_TRUE(inapplicable(refused)) << where << ": " << refused;
                    continue;
                }
                applied += after == before ? 0 : 1;
                ASSERT_EQ(problem_of(after), "") << where;
                ASSERT_EQ(round_trip_problem(after), "") << where;
                Carried const old = carried_by(before);
                Carried const now = carried_by(after);
                EXPECT_EQ(now.pairs, old.pairs) << where;
                EXPECT_EQ(now.collectives, old.collectives) << where;
                EXPECT_EQ(now.computed_ns, old.computed_ns) << where;
                EXPECT_EQ(now.converted, old.converted) << where;
            }
        }
    }
    EXPECT_GE(applied, 5);
}

INSTANTIATE_TEST_SUITE_P(Transforms, EveryTransform,
                         testing::Values("bucket:1M", "fuse", "split:3", "overlap:4", "reorder", "bucket:1M,overlap",
                                         "split:2,overlap,reorder", "split:2,fuse", "puts", "split:2,puts"));

std::vector<Plan> plans_of_type(std::string_view pattern, Parameters const& parameters, int ranks) {
    return plans_of_type(type_named(pattern), parameters, {ranks, ranks});
}

// Two MoE exchanges of one phase, dispatch and its probabilities, become one; three layers of one operation become a
// bucket; a cut into 4 makes four times the operations.
TEST(Transforms, ChangeTheNumberOfOperationsAsTheySay) {
    Parameters const moe{{"tokens", "64"}, {"probs", "on"}};
    auto with = [](Parameters parameters, char const* transform) {
        parameters["transform"] = transform;
        return parameters;
    };
    EXPECT_EQ(plans_of_type("moe_alltoall", moe, 4)[0].steps.size(), 4U);
    EXPECT_EQ(labels(plans_of_type("moe_alltoall", with(moe, "fuse"), 4)[0]),
              (std::vector<std::string>{"count_exchange", "dispatch+1", "combine"}));
    EXPECT_EQ(plans_of_type("moe_alltoall", with(moe, "split:4"), 4)[0].steps.size(), 16U);
    Parameters const reduce{{"operation", "allreduce"}, {"message-size", "4096"}};
    EXPECT_EQ(plans_of_type("collective", with(reduce, "split:8"), 2)[0].steps.size(), 8U);
    EXPECT_EQ(plans_of_type("collective", with({{"operation", "allreduce"}, {"message-size", "8"}}, "split:8"), 2)[0]
                  .steps.size(),
              2U);  // two fp32
}

// A part is packed, moved and unpacked; the second part is packed when the first one is, before that has moved.
TEST(Transforms, PackedRowsAreCutWithTheStepsThatPackAndUnpackThem) {
    Plan const plan =
        plans_of_type("moe_alltoall", {{"tokens", "64"}, {"quantize", "mxfp8"}, {"transform", "overlap:2"}}, 2)[0];
    EXPECT_EQ(labels(plan),
              (std::vector<std::string>{"count_exchange.part0", "count_exchange.part1", "pack.dispatch.part0",
                                        "dispatch.part0", "unpack.dispatch.part0", "pack.dispatch.part1",
                                        "dispatch.part1", "unpack.dispatch.part1", "combine.part0", "combine.part1"}));
    EXPECT_EQ(plan.steps[5].after, (std::vector<StepId>{1, 2}));
    EXPECT_EQ(plan.steps[8].after, (std::vector<StepId>{4}));
}

// A row of an allgather has a scale per block, so that rows which end within one would have fewer when joined.
TEST(Transforms, PackedAllgathersJoinWhereTheirRowsAreWholeBlocks) {
    auto const gathers = [](char const* transform, char const* format) {
        Parameters const parameters{
            {"scheme", "fsdp"}, {"model", "gpt-19m"}, {"quantize", format}, {"transform", transform}};
        Plan const plan = plans_of_type("dp_gradients", parameters, 2)[0];
        return std::count_if(plan.steps.begin(), plan.steps.end(),
                             [](Step const& step) { return kind_of(step.operation) == OperationKind::all_gather; });
    };
    EXPECT_LT(gathers("fuse", "mxfp8"), gathers("none", "mxfp8"));
}

/// combine waits for dispatch: all parts of it, or only its own.
TEST(Transforms, OverlapLetsAPartWaitForItsPartOnly) {
    Parameters parameters{{"tokens", "64"}, {"wire", "padded"}, {"transform", "split:2"}};
    Plan const split = plans_of_type("moe_alltoall", parameters, 2)[0];
    parameters["transform"] = "overlap:2";
    Plan const overlapped = plans_of_type("moe_alltoall", parameters, 2)[0];
    ASSERT_EQ(split.steps.size(), 4U);
    EXPECT_EQ(split.steps[3].after, (std::vector<StepId>{0, 1}));
    EXPECT_EQ(overlapped.steps[3].after, (std::vector<StepId>{1}));
    EXPECT_EQ(overlapped.steps[2].after, (std::vector<StepId>{0}));
}

// ResNet-50's gradients in one bucket each of 1 MiB join to those that 25 MiB make, but for the first (7.1).
TEST(Transforms, SmallBucketsJoinToLargeOnes) {
    auto const reductions = [](char const* transform) {
        Plan const plan = plans_of_type("dp_gradients", {{"transform", transform}}, 2)[0];
        return std::count_if(plan.steps.begin(), plan.steps.end(),
                             [](Step const& step) { return kind_of(step.operation) == OperationKind::all_reduce; });
    };
    EXPECT_LT(reductions("bucket:1G"), reductions("none"));
    EXPECT_LE(reductions("bucket:1G"), reductions("bucket:50M"));
}

TEST(Transforms, WordsThatAreNoneAreRefused) {
    auto const refused = [](std::string_view pattern, char const* transform, Parameters parameters = {}) {
        parameters["transform"] = transform;
        return usage_error_of([&] { (void)plans_of_type(pattern, parameters, 4); });
    };
    EXPECT_EQ(refused("moe_alltoall", "bucket"),
              "transform 'bucket': expected the bytes of a bucket, as in bucket:25M");
    EXPECT_EQ(
        refused("moe_alltoall", "merge"),
        "transform 'merge': expected none, or some of bucket:BYTES, fuse, split:PARTS, overlap[:PARTS], reorder, puts");
    EXPECT_EQ(refused("moe_alltoall", "split:1"), "transform 'split:1': expected 2 to 1024 parts, as in split:4");
    EXPECT_EQ(refused("moe_alltoall", "fuse:2"), "transform 'fuse:2': fuse takes no number");
    EXPECT_EQ(
        refused("moe_alltoall", "fuse,"),
        "transform '': expected none, or some of bucket:BYTES, fuse, split:PARTS, overlap[:PARTS], reorder, puts");
    EXPECT_EQ(refused("pipeline_p2p", "bucket:1M"), "joins collectives, and these plans have none");
    EXPECT_EQ(refused("collective", "split:2", {{"operation", "barrier"}, {"message-size", "0"}}),
              "these plans have no operation that has parts");
    for (char const* transform : {"split:2", "fuse"}) {
        EXPECT_EQ(refused("moe_alltoall", transform, {{"tokens", "16"}, {"pack", "fused"}}),
                  "step \"dispatch\" moves rows (--pack fused), which a plan that is transformed cannot do yet; leave "
                  "--pack out");
    }
}

TEST(Transforms, AnExchangeInPlaceStaysSo) {
    for (char const* transform : {"split:2", "fuse"}) {
        Parameters const parameters{
            {"operation", "alltoall"}, {"message-size", "4096"}, {"in-place", "on"}, {"transform", transform}};
        Plan const plan = plans_of_type("collective", parameters, 2)[0];
        for (Step const& step : plan.steps) {
            EXPECT_TRUE(std::get<Exchange>(step.operation).in_place()) << transform;
        }
    }
}

// Two ranks that hold four stages in turn: forward and backward messages of one size go the same way, and the receiver
// waits for them in another order.
TEST(Transforms, PutsAreRefusedWhereMessagesOfOneSizeWouldChangePlaces) {
    Parameters const parameters{{"schedule", "interleaved"}, {"virtual-stages", "2"}, {"transform", "puts"}};
    EXPECT_NE(usage_error_of([&] { (void)plans_of_type("pipeline_p2p", parameters, 2); }).find("in the order"),
              std::string::npos);
}

/// Only the ranks of the last stage put logits in another order: those of the first have nothing to reorder.
TEST(Transforms, ReorderLeavesRanksAloneThatComputeNothing) {
    Parameters parameters{{"tp", "2"},          {"pp", "2"},     {"phase", "decode"}, {"logits", "allgather"},
                          {"pack", "host"},     {"layers", "2"}, {"hidden", "256"},   {"vocabulary", "1024"},
                          {"transform", "none"}};
    std::vector<Plan> const before = plans_of_type("tp_allreduce", parameters, 4);
    parameters["transform"] = "reorder";
    std::vector<Plan> const after = plans_of_type("tp_allreduce", parameters, 4);
    EXPECT_FALSE(computes(after.front()));
    EXPECT_TRUE(computes(after.back()));
    EXPECT_EQ(labels(after.front()), labels(before.front()));
}

/// Steps 0 compute, 1 send that waits for it, 2 compute, 3 send that waits for nothing.
TEST(Transforms, ReorderPostsWhatWaitsForNothingBeforeComputations) {
    Plan plan;
    plan.steps = {{Compute{10}, {}, "a"}, {Barrier{0}, {0}, "b"}, {Compute{10}, {1}, "c"}, {Barrier{0}, {}, "d"}};
    plan.groups = {{{0}}};
    EXPECT_EQ(labels(reorder(plan)), (std::vector<std::string>{"a", "b", "d", "c"}));
    EXPECT_EQ(reorder(plan).steps[3].after, (std::vector<StepId>{1}));
}

}  // namespace
}  // namespace dlmb
