// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Every schedule in every mode: each send meets its receive and nothing waits in a circle.
#include "common/base/error.hpp"
#include "tests/unit/pipeline_p2p/fixture.hpp"

#include <gtest/gtest.h>

namespace dlmb::pipeline_p2p {
namespace {

Parameters const small_stage{{"sequence", "96"}, {"hidden", "16"}, {"vocabulary", "64"}};

class PipelineValidity : public testing::TestWithParam<std::tuple<char const*, char const*>> {
protected:
    static void expect_sound(Parameters const& overrides, int ranks) {
        for (char const* compute : {"none", "busy"}) {
            Parameters const parameters =
                with(with(small_stage, {{"schedule", std::get<0>(GetParam())}, {"mode", std::get<1>(GetParam())}}),
                     with(overrides, {{"compute", compute}}));
            EXPECT_EQ(problem_of(plans_of(parameters, ranks)), "")
                << ranks << " ranks, micro-batches " << parameters.at("microbatches") << ", compute " << compute;
        }
    }
    static bool is(std::string_view schedule) { return schedule == std::get<0>(GetParam()); }
    static bool needs_even_ranks() { return is("chimera") || is("dualpipe"); }
    /// Numbers of micro-batches that the schedule takes on so many pipeline ranks.
    static std::vector<int> microbatches(int pp) {
        if (is("dualpipe")) {
            return {2 * pp, 2 * pp + 2, 4 * pp};
        }
        if (is("interleaved")) {
            bool const few_hang = std::string_view("handshake_data") == std::get<1>(GetParam());
            return few_hang ? std::vector{2 * pp, 3 * pp} : std::vector{pp, 2 * pp, 2 * pp + 1, 3 * pp};
        }
        return {1, 2, pp, pp + 1, 2 * pp - 1, 4 * pp};
    }
};

TEST_P(PipelineValidity, OneChain) {
    for (int const pp : {1, 2, 3, 4, 6, 8}) {
        if (needs_even_ranks() && pp % 2 != 0) {
            continue;
        }
        for (int const count : microbatches(pp)) {
            std::string const text = std::to_string(count);
            expect_sound(
                {{"microbatches", text}, {"microbatch-group", is("interleaved") && count % pp != 0 ? text : "0"}}, pp);
        }
    }
}

TEST_P(PipelineValidity, SeveralChainsWithTensorAndDataParallelRanks) {
    Parameters const parameters{{"pp", "4"}, {"tp", "2"}, {"microbatches", "8"}};
    expect_sound(with(parameters, {{"tp-split", "scatter_gather"}}), 16);
    expect_sound(with(parameters, {{"tp-split", "sequence_parallel"}, {"cp", "2"}}), 16);
}

TEST_P(PipelineValidity, SixtyFourRanks) {
    expect_sound({{"pp", "16"}, {"tp", "2"}, {"microbatches", "32"}}, 64);
}

INSTANTIATE_TEST_SUITE_P(All, PipelineValidity,
                         testing::Combine(testing::ValuesIn(schedules), testing::ValuesIn(modes)),
                         [](auto const& test) {
                             std::string const schedule = std::get<0>(test.param);
                             return (schedule == "1f1b" ? "one_f_one_b" : schedule) + "_" + std::get<1>(test.param);
                         });

}  // namespace
}  // namespace dlmb::pipeline_p2p
