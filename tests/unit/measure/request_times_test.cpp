// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// From marks to the latencies of requests, and planned arrivals on a host that looks late.
#include "common/backend_kit/compute.hpp"
#include "common/bootstrap/in_process/run_ranks.hpp"
#include "common/formats/plan/arrivals.hpp"
#include "common/measure/sampling/request_times.hpp"
#include "tests/unit/measure/run_world.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

namespace dlmb::measure {
namespace {

constexpr Nanoseconds gap_ns = 1'000'000;

/// Rank 0 sends rank 1 two requests of two parts. The second one arrives `gap_ns` after the first.
Plan two_requests(Rank me, int ranks, std::uint32_t /*draw*/) {
    PlanBuilder builder(me);
    GroupId const group = builder.group(world_of(ranks));
    std::vector<StepId> arrived;
    for (int request = 0; request < 2; ++request) {
        builder.microbatch(request);
        if (me == 0) {
            arrived = {builder.compute(request * gap_ns, "arrival", arrived)};
        }
        std::vector<StepId> after = arrived;
        for (char const* part : {"first", "rest"}) {
            after = {me == 0 ? builder.send(group, 1, 64, request, -1, part, after)
                             : builder.recv(group, 0, 64, request, -1, part, after)};
        }
    }
    return std::move(builder).finish();
}

std::map<std::string, double> latencies_of(std::vector<record::Figure> const& figures) {
    std::map<std::string, double> values;
    for (record::Figure const& figure : figures) {
        if (figure.name.find("latency") == std::string::npos) {
            continue;
        }
        EXPECT_EQ(figure.unit, "ns");
        EXPECT_EQ(figure.better, record::Better::lower);
        values.emplace(figure.name, figure.value);
    }
    return values;
}

// Steps of rank 0: 0 arrival, 1 first, 2 rest of request 0; 3, 4, 5 of request 1. Of rank 1: 0, 1 and 2, 3. The clock
// of rank 1 is 500 behind the common one. Rank 0 notices the second arrival 400 too late, which nobody waits for.
TEST(RequestTimes, ARequestTakesFromItsPlannedArrivalToTheLastEndOnAnyRank) {
    in_process::run_ranks(2, [](Bootstrap& bootstrap) {
        Rank const me = bootstrap.rank();
        std::vector<Plan> const plans{two_requests(me, 2, 0)};
        RequestMap const map(bootstrap, plans, std::vector<std::string>{"arrival", "first", "rest"});
        ASSERT_EQ(map.phases(), (std::vector<std::string>{"first", "rest"}));
        ASSERT_EQ(map.words(), 2U * 3);
        std::vector<Nanoseconds> words(map.words());
        if (me == 0) {
            std::vector<PhaseMark> const marks{{0, 1'010},          {1, 1'100},          {2, 1'200},
                                               {3, gap_ns + 1'400}, {4, gap_ns + 1'500}, {5, PhaseMark::at_finish}};
            map.times(0, marks, 1'000, gap_ns + 1'600, 0, words);
        } else {
            std::vector<PhaseMark> const marks{{0, 900}, {1, 1'300}, {2, gap_ns + 1'100}, {3, PhaseMark::at_finish}};
            map.times(0, marks, 480, gap_ns + 1'120, 500, words);
        }
        bootstrap.all_reduce(words, Fold::max);
        RequestLatencies latencies(map);
        latencies.add(words);
        auto const values = latencies_of(latencies.figures());
        EXPECT_EQ(values.at("request_latency_p100"), 800);  // 1300 + 500 - 1000; the other one 620
        EXPECT_EQ(values.at("first_latency_p100"), 600);    // gap + 1100 + 500 - (1000 + gap); the other one 400
        EXPECT_EQ(values.count("rest_latency_p100"), 0U);   // which is the request's
        EXPECT_EQ(values.count("request_latency_p50"), 0U);
    });
}

TEST(RequestTimes, PercentilesNeedTheirNumberOfRequests) {
    in_process::run_ranks(2, [](Bootstrap& bootstrap) {
        std::vector<Plan> const plans{two_requests(bootstrap.rank(), 2, 0)};
        RequestMap const map(bootstrap, plans, std::vector<std::string>{"arrival", "first", "rest"});
        RequestLatencies latencies(map);
        for (Nanoseconds i = 1; i <= 150; ++i) {  // latencies 1 to 300
            latencies.add(std::vector<Nanoseconds>{-100, 100, 100 + 2 * i - 1, -100, 100, 100 + 2 * i});
        }
        auto const values = latencies_of(latencies.figures());
        EXPECT_EQ(values.at("request_latency_p50"), 150);
        EXPECT_EQ(values.at("request_latency_p99"), 297);
        EXPECT_EQ(values.at("request_latency_p5"), 15);
        EXPECT_EQ(values.at("request_latency_p100"), 300);
        EXPECT_EQ(values.at("first_latency_p99"), 0);
    });
}

TEST(RequestTimes, WithoutArrivalsThereAreNone) {
    in_process::run_ranks(2, [](Bootstrap& bootstrap) {
        std::vector<Plan> plans{two_requests(bootstrap.rank(), 2, 0)};
        for (Step& step : plans.front().steps) {
            step.label = step.label == "arrival" ? "compute" : step.label;
        }
        RequestMap const map(bootstrap, plans, std::vector<std::string>{"compute", "first", "rest"});
        EXPECT_EQ(map.words(), 0U);
        EXPECT_TRUE(RequestLatencies(map).figures().empty());
    });
}

TEST(RequestTimes, ACellHasTheFigures) {
    using namespace testing;
    RunnerOptions options = brief();
    options.iterations = 24;
    auto const told =
        run({.ranks = 2, .plan = two_requests, .draws = 1, .options = options, .cells = {without_fault()}});
    record::CellResult const& result = told.front().front().result;
    ASSERT_EQ(result.status, record::Status::ok);
    EXPECT_GE(result.time.min, static_cast<double>(gap_ns));  // it waits for the last arrival
    auto const values = latencies_of(result.figures);
    EXPECT_GT(values.at("request_latency_p50"), 0);
    EXPECT_GE(values.at("request_latency_p100"), values.at("first_latency_p100"));
}

TEST(PlannedArrivals, AreKnownWhereOnlyTheClockIsWatched) {
    Plan const plan = two_requests(0, 2, 0);
    std::vector<std::optional<Nanoseconds>> const ends = planned_ends(plan);
    EXPECT_EQ(ends.at(0), Nanoseconds{0});
    EXPECT_EQ(ends.at(3), gap_ns);
    EXPECT_EQ(ends.at(1), std::nullopt);
    EXPECT_EQ(timer_before(plan, 3), StepId{0});
    Plan waits = plan;
    waits.steps[3].after = {0, 2};
    EXPECT_EQ(timer_before(waits, 3), std::nullopt);
    EXPECT_EQ(planned_ends(waits).at(3), std::nullopt);
    Plan works = plan;
    std::get<Compute>(works.steps[0].operation).uninterrupted = true;
    EXPECT_EQ(timer_before(works, 3), std::nullopt);
    EXPECT_EQ(planned_ends(works).at(3), std::nullopt);
}

// The second timer, of 20 ms, would not be over if it began when the host starts it.
TEST(PlannedArrivals, DoNotMoveWhereTheHostLooksLate) {
    constexpr Nanoseconds late_ns = 20'000'000;
    Plan plan;
    plan.steps = {{Compute{1}, {}, "arrival"}, {Compute{late_ns}, {0}, "arrival"}};
    Buffers const buffers;
    HostComputes computes(plan, buffers);
    HostCompute first = computes.make(0);
    HostCompute second = computes.make(1);
    for (int iteration = 0; iteration < 2; ++iteration) {
        first.start();
        for (Nanoseconds const begin = now_ns(); now_ns() < begin + late_ns + 1;) {
        }
        EXPECT_TRUE(first.test());
        second.start();
        EXPECT_TRUE(second.test());
    }
}

}  // namespace
}  // namespace dlmb::measure
