// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Computations change when messages can go, never which, how large, in what order or after which others.
#include "tests/unit/pipeline_p2p/fixture.hpp"

#include <gtest/gtest.h>

#include <set>

namespace dlmb::pipeline_p2p {
namespace {

Parameters const eight_microbatches{{"sequence", "96"}, {"hidden", "16"}, {"microbatches", "8"}, {"vocabulary", "64"}};

/// By step: all earlier steps that it waits for, over any number of others.
std::vector<std::set<StepId>> ancestors(Plan const& plan) {
    std::vector<std::set<StepId>> all(plan.steps.size());
    for (StepId id = 0; id < plan.steps.size(); ++id) {
        for (StepId const earlier : plan.steps[id].after) {
            all[id].insert(earlier);
            all[id].insert(all[earlier].begin(), all[earlier].end());
        }
    }
    return all;
}

bool is_compute(Step const& step) {
    return std::holds_alternative<Compute>(step.operation);
}

/// The plan without Compute steps; each step waits for all that it waited for, over them too.
Plan without_compute(Plan plan) {
    auto const waits = ancestors(plan);
    std::vector<StepId> number(plan.steps.size());
    std::vector<Step> kept;
    for (StepId id = 0; id < plan.steps.size(); ++id) {
        if (is_compute(plan.steps[id])) {
            continue;
        }
        number[id] = static_cast<StepId>(kept.size());
        Step step = plan.steps[id];
        step.after.clear();
        for (StepId const earlier : waits[id]) {
            if (!is_compute(plan.steps[earlier])) {
                step.after.push_back(number[earlier]);
            }
        }
        kept.push_back(std::move(step));
    }
    plan.steps = std::move(kept);
    return plan;
}

template <class Check>
void for_all(Check check) {
    for (char const* schedule : schedules) {
        for (char const* mode : modes) {
            for (char const* split : {"none", "scatter_gather"}) {
                check(with(eight_microbatches,
                           {{"schedule", schedule}, {"mode", mode}, {"tp", "2"}, {"tp-split", split}}),
                      std::string(schedule) + ' ' + mode + ' ' + split);
            }
        }
    }
}

TEST(PipelineCompute, TheCommunicationIsTheSameWhateverComputes) {
    for_all([](Parameters const& parameters, std::string const& name) {
        auto const none = plans_of(with(parameters, {{"compute", "none"}}), 8);
        auto const busy = plans_of(with(parameters, {{"compute", "busy"}}), 8);
        auto const gemm = plans_of(with(parameters, {{"compute", "gemm"}}), 8);
        for (std::size_t rank = 0; rank < none.size(); ++rank) {
            Plan const expected = without_compute(none[rank]);
            ASSERT_EQ(expected.steps.size(), none[rank].steps.size()) << name;
            EXPECT_EQ(without_compute(busy[rank]), expected) << name << ", rank " << rank;
            EXPECT_EQ(without_compute(gemm[rank]), expected) << name << ", rank " << rank;
        }
    });
}

TEST(PipelineCompute, ComputationsOfARankAreInOneLine) {
    for_all([](Parameters const& parameters, std::string const& name) {
        for (Plan const& plan : plans_of(with(parameters, {{"compute", "busy"}}), 8)) {
            auto const waits = ancestors(plan);
            std::size_t computations = 0;
            for (StepId id = 0; id < plan.steps.size(); ++id) {
                if (is_compute(plan.steps[id])) {
                    std::size_t earlier = 0;
                    for (StepId const step : waits[id]) {
                        earlier += is_compute(plan.steps[step]) ? 1U : 0U;
                    }
                    ASSERT_EQ(earlier, computations++) << name;
                }
            }
            EXPECT_GT(computations, 0U) << name;
        }
    });
}

/// Whether any computation waits, over anything, for a send.
bool waits_for_a_send(Plan const& plan) {
    auto const waits = ancestors(plan);
    for (StepId id = 0; id < plan.steps.size(); ++id) {
        for (StepId const earlier : waits[id]) {
            if (is_compute(plan.steps[id]) && std::holds_alternative<Send>(plan.steps[earlier].operation)) {
                return true;
            }
        }
    }
    return false;
}

TEST(PipelineCompute, NoComputationWaitsForASendInSeparateModeOnly) {
    for_all([](Parameters const& parameters, std::string const& name) {
        bool const overlaps = name.find("separate") != std::string::npos;
        for (Plan const& plan : plans_of(with(parameters, {{"compute", "busy"}}), 8)) {
            EXPECT_EQ(waits_for_a_send(plan), !overlaps) << name << ", rank " << plan.me;
        }
    });
}

// The output projection of attention: tokens of a micro-batch x hidden / tp rows of weights x hidden.
TEST(PipelineCompute, AProductHasTheShapeOfTheLayer) {
    auto const product = [](Parameters const& parameters, int ranks, char const* preset = "") {
        Parameters const all = with(parameters, {{"compute", "gemm"}});
        auto const plans = plans_of(all, ranks, preset);
        std::optional<ProductShape> const shape =
            std::get<Compute>(steps_with(plans.at(0), "compute.forward").at(0)->operation).product;
        auto const pattern = make_pipeline(all, {ranks, ranks}, preset);
        EXPECT_EQ(statistic(*pattern, "gemm_rows"), static_cast<double>(shape->rows));
        EXPECT_EQ(statistic(*pattern, "gemm_columns"), static_cast<double>(shape->columns));
        EXPECT_EQ(statistic(*pattern, "gemm_inner"), static_cast<double>(shape->inner));
        return shape.value();
    };
    EXPECT_EQ(product({}, 2, "llama-7b"), (ProductShape{4096, 4096, 4096}));
    EXPECT_EQ(product({}, 2, "gpt-125m"), (ProductShape{std::uint64_t{4} * 2048, 768, 768}));
    EXPECT_EQ(product({{"tp", "8"}}, 16, "gpt3-175b"), (ProductShape{2048, 12288, 1536}))
        << "sequence parallelism gathers the tokens before the product";
    Parameters const odd{{"sequence", "96"}, {"hidden", "16"}, {"cp", "2"}, {"tp", "3"}, {"micro-batch-size", "5"}};
    EXPECT_EQ(product(odd, 12), (ProductShape{std::uint64_t{5} * 48, 16, 6}))
        << "the largest part of what tp does not divide";
}

TEST(PipelineCompute, NothingIsMultipliedButByGemm) {
    auto const plans = plans_of({{"compute", "busy"}}, 2);
    EXPECT_EQ(std::get<Compute>(steps_with(plans.at(0), "compute.forward").at(0)->operation).product, std::nullopt);
    EXPECT_EQ(statistic(*make_pipeline({{"compute", "busy"}}, {2, 2}), "gemm_rows"), -1) << "there is none";
}

TEST(PipelineCompute, ChunksShareTheTimesOfTheirRank) {
    Parameters const times{{"compute", "gemm"}, {"forward-us", "12"}, {"backward-us", "30"}, {"weight-us", "6"}};
    auto const step = [&](char const* schedule, char const* label) {
        return std::get<Compute>(
            steps_with(plans_of(with(times, {{"schedule", schedule}}), 2).at(0), label).at(0)->operation);
    };
    EXPECT_EQ(step("1f1b", "compute.forward"), (Compute{12'000, ProductShape{2048, 2048, 2048}}));
    EXPECT_EQ(step("1f1b", "compute.backward").busy_ns, 30'000);
    EXPECT_EQ(step("interleaved", "compute.backward").busy_ns, 15'000);
    EXPECT_EQ(step("zb_h1", "compute.backward_input").busy_ns, 24'000);
    EXPECT_EQ(step("zb_v", "compute.backward_weight").busy_ns, 3'000);
    EXPECT_EQ(step("dualpipe", "compute.forward_backward").busy_ns, 42'000);
}

}  // namespace
}  // namespace dlmb::pipeline_p2p
