// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/formats/plan/arrivals.hpp"
#include "tests/unit/kv_transfer/pattern_fixture.hpp"
#include "tests/unit/record/temporary_folder.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <numeric>
#include <string>
#include <vector>

namespace dlmb::kv_transfer {
namespace {

/// By step of phase arrival.
std::vector<Nanoseconds> arrivals_of(Plan const& plan) {
    std::vector<Nanoseconds> times;
    std::vector<std::optional<Nanoseconds>> const ends = planned_ends(plan);
    for (StepId id = 0; id < plan.steps.size(); ++id) {
        if (is_arrival(plan.steps[id])) {
            times.push_back(ends.at(id).value());
        }
    }
    return times;
}

std::vector<int> requests_of(Plan const& plan) {
    std::vector<int> numbers;
    for (Step const& step : plan.steps) {
        if (is_arrival(step)) {
            numbers.push_back(step.microbatch);
        }
    }
    return numbers;
}

// 4,000 exponential distances of a mean of 2 ms: the error of their mean is 1/sqrt(4000) = 1.6 % of it, and of their
// standard deviation, which is as large, about twice as much.
TEST(KvArrivals, APoissonProcessHasTheRateThatIsGiven) {
    Parameters const parameters{{"layers", "1"}, {"tokens", "1"}, {"requests", "4001"}, {"arrivals", "poisson:500"}};
    std::vector<Nanoseconds> const times = arrivals_of(kv.plan("", parameters, {2, 2}));
    ASSERT_EQ(times.size(), 4001U);
    EXPECT_EQ(times.front(), 0);
    std::vector<double> gaps(times.size());
    std::adjacent_difference(times.begin(), times.end(), gaps.begin());
    gaps.erase(gaps.begin());
    double const mean = std::accumulate(gaps.begin(), gaps.end(), 0.0) / 4000;
    double squares = 0;
    for (double const gap : gaps) {
        EXPECT_GE(gap, 0);
        squares += (gap - mean) * (gap - mean);
    }
    EXPECT_NEAR(mean, 2e6, 0.1 * 2e6);
    EXPECT_NEAR(std::sqrt(squares / 4000), mean, 0.15 * mean);
}

TEST(KvArrivals, EachDrawAndInstanceHasItsOwn) {
    Parameters const parameters{{"layers", "1"},     {"tokens", "1"},   {"requests", "3"}, {"arrivals", "poisson:500"},
                                {"prefill-tp", "1"}, {"decode-tp", "1"}};
    WorldShape const world{4, 4};
    auto const pattern = kv.make("", parameters, world);
    EXPECT_TRUE(pattern->draws_differ());
    EXPECT_GT(pattern->most_draws(), 1000U);
    auto const times = [&](Rank rank, Draw draw) { return arrivals_of(build_one(*pattern, rank, draw)); };
    EXPECT_EQ(times(0, {1, 2}), times(0, {1, 2}));
    EXPECT_NE(times(0, {1, 2}), times(0, {1, 3}));
    EXPECT_NE(times(0, {1, 2}), times(0, {2, 2}));
    EXPECT_NE(times(0, {1, 2}), times(1, {1, 2}));
    EXPECT_EQ(requests_of(build_one(*pattern, 0, {})), (std::vector<int>{0, 2, 4}));
    EXPECT_EQ(requests_of(build_one(*pattern, 1, {})), (std::vector<int>{1, 3, 5}));
    EXPECT_TRUE(requests_of(build_one(*pattern, 2, {})).empty());  // it decodes
}

class RecordedArrivals : public testing::Test {
protected:
    RecordedArrivals() {
        std::ofstream(trace_) << "{\"timestamp\": 100, \"input_length\": 16}\n"
                                 "{\"timestamp\": 100, \"input_length\": 32}\n"
                                 "{\"timestamp\": 140, \"input_length\": 48}\n"
                                 "{\"timestamp\": 177.5, \"input_length\": 64}\n";
    }
    [[nodiscard]] Parameters with(std::string const& arrivals, std::string const& requests) const {
        return {{"layers", "1"},        {"tokens", "file:" + trace_}, {"requests", requests},
                {"arrivals", arrivals}, {"prefill-tp", "1"},          {"decode-tp", "1"}};
    }

    record::TemporaryFolder folder_;
    std::string trace_ = (folder_ / "requests.jsonl").string();
};

using Times = std::vector<Nanoseconds>;

TEST_F(RecordedArrivals, AreThoseOfTheFileFromTheFirstOfADraw) {
    auto const pattern = kv.make("", with("recorded", "2"), {2, 2});
    EXPECT_EQ(arrivals_of(build_one(*pattern, 0, {1, 0})), (Times{0, 0}));
    EXPECT_EQ(arrivals_of(build_one(*pattern, 0, {1, 1})), (Times{0, 37'500'000}));
    EXPECT_EQ(arrivals_of(build_one(*pattern, 0, {2, 0})), (Times{0, 40'000'000}));
    EXPECT_EQ(arrivals_of(build_one(*pattern, 0, {4, 0})), (Times{0, 0}));  // the last, and the first of the next pass
    EXPECT_EQ(arrivals_of(build_one(*pattern, 0, {0, 0})), (Times{0, 0}));  // the one before that of seed 1
    EXPECT_EQ(arrivals_of(build_one(*pattern, 0, {9'000'000'000'000'000'001U, 1})), (Times{0, 37'500'000}));
}

TEST_F(RecordedArrivals, MayBeFaster) {
    auto const pattern = kv.make("", with("recorded:10", "4"), {2, 2});
    EXPECT_EQ(arrivals_of(build_one(*pattern, 0, {})), (Times{0, 0, 4'000'000, 7'750'000}));
}

TEST_F(RecordedArrivals, GoToTheInstancesInTurn) {
    auto const pattern = kv.make("", with("recorded", "2"), {4, 4});
    EXPECT_EQ(arrivals_of(build_one(*pattern, 0, {})), (Times{0, 40'000'000}));
    EXPECT_EQ(arrivals_of(build_one(*pattern, 1, {})), (Times{0, 77'500'000}));
    EXPECT_EQ(bytes_of(build_one(*pattern, 1, {}), "first_layer.0.3").sent, 64U * 4096);
}

TEST_F(RecordedArrivals, AreRefusedWhereTheyAreNotKnown) {
    std::string const text = "--arrivals recorded: not all requests of --tokens have a \"timestamp\" in milliseconds, "
                             "no earlier than that of "
                             "the line before; give --tokens file:PATH of a trace that has them";
    EXPECT_EQ(kv.refusal({{"arrivals", "recorded"}}, {2, 2}), text);
    for (char const* wrong : {"\"timestamp\": 150, ", "\"timestamp\": \"noon\", ", ""}) {
        std::ofstream(trace_) << "{\"timestamp\": 177.5, \"input_length\": 64}\n{" << wrong
                              << "\"input_length\": 64}\n";
        EXPECT_EQ(kv.refusal(with("recorded", "2"), {2, 2}), text) << wrong;
        EXPECT_FALSE(labels(kv.plan("", with("alone", "2"), {2, 2})).empty());
    }
}

TEST(KvArrivals, WrongOnesAreOneLine) {
    for (char const* wrong : {"", "now", "poisson", "poisson:", "poisson:0", "poisson:-1", "poisson:x",
                              "recorded:", "recorded:0", "alone:1", "together:1", "poisson:1e10"}) {
        EXPECT_EQ(kv.refusal({{"arrivals", wrong}}, {2, 2}), std::string("--arrivals '") + wrong +
                                                                 "': expected together, alone, poisson:RATE, recorded "
                                                                 "or recorded:SPEED, with a number from 1e-6 to 1e9");
    }
    EXPECT_EQ(kv.refusal({{"arrivals", "poisson:0.5"}, {"requests", "1000"}}, {2, 2}),
              "--arrivals poisson:0.5: 1000 requests of 1 prefill instances arrive over 1998 s, above 1000 s; give a "
              "larger number behind the colon, or fewer requests");
}

// The second request is read when it has arrived and the first one is read; each layer leaves when it is computed.
TEST(KvArrivals, APrefillRankReadsOneRequestAfterTheOther) {
    Parameters const parameters{
        {"layers", "2"}, {"tokens", "16"}, {"requests", "2"}, {"arrivals", "poisson:9"}, {"compute-ns", "10"}};
    Plan const plan = kv.plan("", parameters, {2, 2});
    EXPECT_EQ(labels(plan),
              (std::vector<std::string>{"arrival.0", "compute.0", "first_layer.0.0", "compute.1", "layers.1.0",
                                        "arrival.1", "compute.0", "first_layer.0.1", "compute.1", "layers.1.1"}));
    EXPECT_EQ(plan.steps[6].after, (std::vector<StepId>{3, 5}));
    EXPECT_EQ(plan.steps[9].after, (std::vector<StepId>{7, 8}));
    EXPECT_EQ(plan.steps[9].microbatch, 1);
    Plan const decode = kv.plan("", parameters, {2, 2}, 1);
    EXPECT_TRUE(decode.steps.at(2).after.empty());  // it waits for no arrival
}

// The second of two stages of two layers hears of a request two layers later.
TEST(KvArrivals, ALaterStageHearsOfARequestLater) {
    Parameters parameters{{"layers", "4"},     {"tokens", "16"},     {"prefill-pp", "2"},
                          {"prefill-tp", "1"}, {"compute-ns", "10"}, {"arrivals", "poisson:9"}};
    EXPECT_EQ(arrivals_of(kv.plan("", parameters, {3, 3}, 0)), (Times{0}));
    Plan const poisson = kv.plan("", parameters, {3, 3}, 1);
    EXPECT_EQ(arrivals_of(poisson), (Times{20}));
    EXPECT_EQ(std::get<Compute>(poisson.steps.at(1).operation).busy_ns, 10);
    parameters["arrivals"] = "alone";  // all ranks pass the barrier at once: its first layer takes that time, too
    Plan const alone = kv.plan("", parameters, {3, 3}, 1);
    EXPECT_EQ(alone.steps.at(1).label, "compute.2");
    EXPECT_EQ(std::get<Compute>(alone.steps[1].operation).busy_ns, 30);
    EXPECT_EQ(std::get<Compute>(alone.steps.at(3).operation).busy_ns, 10);
}

// Ranks 0 and 1 prefill, ranks 2 and 3 decode: request 1 is that of rank 1, and arrives when rank 0's is done.
TEST(KvArrivals, ARequestThatComesAloneWaitsForAllBeforeIt) {
    Parameters const parameters{{"layers", "1"},       {"tokens", "16"},    {"requests", "2"},
                                {"arrivals", "alone"}, {"prefill-tp", "1"}, {"decode-tp", "1"}};
    WorldShape const world{4, 4};
    auto const pattern = kv.make("", parameters, world);
    EXPECT_EQ(pattern->operations().back().kind, OperationKind::barrier);
    Plan const first = build_one(*pattern, 0, {});
    EXPECT_EQ(labels(first), (std::vector<std::string>{"arrival.0", "first_layer.0.0", "arrival.1", "arrival.2",
                                                       "first_layer.0.2", "arrival.3"}));
    EXPECT_EQ(first.groups.at(std::get<Barrier>(first.steps[0].operation).group).members,
              (std::vector<Rank>{0, 1, 2, 3}));
    EXPECT_EQ(first.steps[1].after, (std::vector<StepId>{0}));
    EXPECT_EQ(first.steps[2].after, (std::vector<StepId>{0, 1}));
    EXPECT_EQ(first.steps[3].after, (std::vector<StepId>{2}));
    Plan const decodes = build_one(*pattern, 3, {});
    EXPECT_EQ(labels(decodes), (std::vector<std::string>{"arrival.0", "arrival.1", "first_layer.0.1", "arrival.2",
                                                         "arrival.3", "first_layer.0.3"}));
    EXPECT_TRUE(decodes.steps[2].after.empty());
    EXPECT_EQ(decodes.steps[3].after, (std::vector<StepId>{1, 2}));
}

}  // namespace
}  // namespace dlmb::kv_transfer
