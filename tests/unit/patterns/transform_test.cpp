// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Transformations of a plan change how many messages there are and when, never how many bytes travel from
// whom to whom. Every transformation on the plans of every pattern of the build.
#include "common/base/error.hpp"
#include "common/plan/traffic.hpp"
#include "common/plan/transform/transform.hpp"
#include "common/plan/validate.hpp"
#include "patterns/registry.hpp"
#include "tests/unit/patterns/pattern_under_test.hpp"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <tuple>

namespace dlmb {
namespace {

PatternType const& pattern_named(std::string_view name) {
    auto const types = pattern_types();
    return **std::find_if(types.begin(), types.end(), [&](PatternType const* each) { return each->name == name; });
}

/// Short plans of a pattern, of each kind that it has.
std::vector<Parameters> variants(std::string_view pattern) {
    if (pattern == "moe_alltoall") {
        return {{{"tokens", "16"}, {"layers", "2"}, {"direction", "both"}, {"probs", "on"}},
                {{"tokens", "16"}, {"wire", "padded"}}};
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

/// What travels: from rank to rank, and by collectives of a group.
struct Carried {
    std::vector<std::vector<Bytes>> pairs;
    std::map<std::tuple<std::vector<Rank>, OperationKind, Rank>, Bytes> collectives;
    std::size_t steps = 0;
    Nanoseconds computed_ns = 0;
};

Carried carried_by(std::vector<Plan> const& plans) {
    Carried carried{{plans.size(), std::vector<Bytes>(plans.size())}, {}, 0, 0};
    for (Plan const& plan : plans) {
        add_sent_bytes(plan, "", carried.pairs[static_cast<std::size_t>(plan.me)]);
        carried.steps += plan.steps.size();
        for (Step const& step : plan.steps) {
            std::visit(
                [&](auto const& operation) {
                    if constexpr (requires { operation.bytes; }) {
                        Rank root = -1;
                        if constexpr (requires { operation.root; }) {
                            root = operation.root;
                        }
                        carried.collectives[{plan.groups[operation.group].members, kind_of(step.operation), root}] +=
                            operation.bytes;
                    } else if constexpr (requires { operation.busy_ns; }) {
                        carried.computed_ns += operation.busy_ns;
                    }
                },
                step.operation);
        }
    }
    return carried;
}

bool inapplicable(std::string_view refusal) {
    return refusal.find("these plans have no") != std::string_view::npos ||
           refusal.find("a barrier has no parts") != std::string_view::npos;
}

class EveryTransform : public testing::TestWithParam<char const*> {};

TEST_P(EveryTransform, MovesTheSameBytesBetweenTheSameRanksInEveryPattern) {
    int applied = 0;
    for (PatternType const* type : pattern_types()) {
        for (Parameters parameters : variants(type->name)) {
            for (int const ranks : {2, 4, 8}) {
                WorldShape const world{ranks, 4};
                std::string const where = fmt::format("{} on {} ranks", type->name, ranks);
                std::vector<Plan> before;
                std::vector<Plan> after;
                try {
                    before = build_all(*make_pattern(*type, "", parameters, world), world, {});
                    parameters["transform"] = GetParam();
                    after = build_all(*make_pattern(*type, "", parameters, world), world, {});
                } catch (UsageError const& error) {
                    // 8 ranks are too many for some defaults, with and without a transformation.
                    EXPECT_TRUE(ranks == 8 || inapplicable(error.what())) << where << ": " << error.what();
                    parameters.erase("transform");
                    continue;
                }
                parameters.erase("transform");
                ++applied;
                std::vector<Problem> const problems = validate(after);
                ASSERT_TRUE(problems.empty()) << where << ": " << problems.front().text;
                Carried const old = carried_by(before);
                Carried const now = carried_by(after);
                EXPECT_EQ(now.pairs, old.pairs) << where;
                EXPECT_EQ(now.collectives, old.collectives) << where;
                EXPECT_EQ(now.computed_ns, old.computed_ns) << where;
            }
        }
    }
    EXPECT_GE(applied, 5);
}

INSTANTIATE_TEST_SUITE_P(Transforms, EveryTransform,
                         testing::Values("bucket:1M", "fuse", "split:3", "overlap:4", "reorder", "bucket:1M,overlap",
                                         "split:2,overlap,reorder", "split:2,fuse"));

std::vector<Plan> plans_of_type(std::string_view pattern, Parameters const& parameters, int ranks) {
    return build_all(*make_pattern(pattern_named(pattern), "", parameters, {ranks, ranks}), {ranks, ranks}, {});
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
        return refusal(pattern_named(pattern), "", parameters, {4, 4});
    };
    EXPECT_EQ(refused("moe_alltoall", "bucket"),
              "--transform 'bucket': expected the bytes of a bucket, as in bucket:25M");
    EXPECT_EQ(
        refused("moe_alltoall", "merge"),
        "--transform 'merge': expected none, or some of bucket:BYTES, fuse, split:PARTS, overlap[:PARTS], reorder");
    EXPECT_EQ(refused("moe_alltoall", "split:1"), "--transform 'split:1': expected 2 to 1024 parts, as in split:4");
    EXPECT_EQ(refused("moe_alltoall", "fuse:2"), "--transform 'fuse:2': fuse takes no number");
    EXPECT_EQ(refused("moe_alltoall", "fuse,"),
              "--transform '': expected none, or some of bucket:BYTES, fuse, split:PARTS, overlap[:PARTS], reorder");
    EXPECT_EQ(refused("pipeline_p2p", "bucket:1M"),
              "--transform bucket:1M: joins collectives, and these plans have none");
    EXPECT_EQ(refused("collective", "split:2", {{"operation", "barrier"}, {"message-size", "0"}}),
              "--transform split:2: a barrier has no parts");
    EXPECT_THROW((void)plans_of_type("moe_alltoall", {{"transform", "reorder"}}, 2), UsageError);
    // Rows that are packed lie in buffers of their plan; laid out anew, the conversions would be lost in silence.
    EXPECT_THROW((void)plans_of_type("moe_alltoall", {{"quantize", "mxfp8"}, {"transform", "split:2"}}, 2), UsageError);
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
