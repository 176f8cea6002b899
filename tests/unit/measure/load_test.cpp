// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/base/clock.hpp"
#include "common/measure/beside/load.hpp"
#include "tests/unit/measure/run_world.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <iterator>
#include <map>
#include <sched.h>
#include <stdexcept>
#include <thread>

namespace dlmb::measure {
namespace {

using record::Load;

std::ptrdiff_t threads() {
    return std::distance(std::filesystem::directory_iterator("/proc/self/task"), {});
}

// The kernel lists a thread for a moment after it was joined. A sanitizer starts one of its own beside the first.
std::ptrdiff_t threads_before() {
    std::thread([] {}).join();
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    return threads();
}

/// `expected`, or how many there still are after 10 seconds.
std::ptrdiff_t threads_after(std::ptrdiff_t expected) {
    auto const end = std::chrono::steady_clock::now() + std::chrono::seconds(10);
    while (threads() != expected && std::chrono::steady_clock::now() < end) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return threads();
}

void wait_for_more_than(BackgroundLoad const& load, std::uint64_t done) {
    while (load.done() <= done) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
}

TEST(BackgroundLoad, CountsFromStartToStopAndGoesOnFromThere) {
    for (Load const kind : record::every_load) {
        BackgroundLoad load(kind, {}, Bytes{1} << 20U);
        auto const before = threads_before();
        EXPECT_EQ(load.done(), 0U);
        for (int visit = 0; visit < 2; ++visit) {
            std::uint64_t const done = load.done();
            load.start();
            EXPECT_EQ(threads_after(before + 1), before + 1);
            wait_for_more_than(load, done);
            load.stop();
            EXPECT_EQ(threads_after(before), before);
            std::uint64_t const stopped = load.done();
            std::this_thread::sleep_for(std::chrono::milliseconds(5));
            EXPECT_EQ(load.done(), stopped) << name_of(kind);
        }
    }
}

TEST(BackgroundLoad, EndsWhenAnErrorEndsTheVisit) {
    BackgroundLoad load(Load::compute, {}, 0);
    auto const before = threads_before();
    auto const fail = [&] {
        LoadVisit const visit(&load);
        wait_for_more_than(load, 0);
        throw std::runtime_error("a library call failed");
    };
    EXPECT_THROW(fail(), std::runtime_error);
    EXPECT_EQ(threads_after(before), before);
}

TEST(BackgroundLoad, NoLoadStartsNoThread) {
    auto const before = threads_before();
    LoadVisit const visit(nullptr);
    EXPECT_EQ(threads_after(before), before);
    EXPECT_EQ(LoadLog(nullptr, "compute").load(), nullptr);
}

TEST(BackgroundLoads, AvoidUnitsOfRanksAsFarAsTheMaskAllows) {
    auto const choose = [](std::vector<int> const& allowed, int own, std::vector<int> const& taken) {
        auto const choice = BackgroundLoads::choose(allowed, own, taken);
        return std::pair(choice.units, choice.shared);
    };
    using Units = std::vector<int>;
    EXPECT_EQ(choose({0, 1, 2, 3}, 0, {0, 2}), std::pair(Units({1, 3}), false));
    EXPECT_EQ(choose({0, 1}, 0, {0, 1}), std::pair(Units({1}), true)) << "another rank's rather than its own";
    EXPECT_EQ(choose({5}, 5, {5}), std::pair(Units({5}), true));
}

TEST(LoadLog, TellsTheRateFromBeginToEnd) {
    in_process::run_ranks(1, [](Bootstrap& bootstrap) {
        BackgroundLoads loads(bootstrap, 0);
        LoadLog log(&loads, "compute");
        BackgroundLoad& load = loads.of(Load::compute);
        LoadVisit const visit(&load);
        wait_for_more_than(load, 0);
        log.measure_alone(bootstrap);
        std::uint64_t const done_before = load.done();
        Nanoseconds const outer_begin = now_ns();
        log.begin();
        std::uint64_t const begun_with = load.done();
        Nanoseconds const inner_begin = now_ns();
        wait_for_more_than(load, begun_with);
        std::uint64_t const ended_with = load.done();
        Nanoseconds const inner_end = now_ns();
        log.end();
        Nanoseconds const outer_end = now_ns();
        std::uint64_t const done_after = load.done();
        double const rate = log.over_ranks(bootstrap).at(0).value / 1e9;
        EXPECT_GE(rate,
                  static_cast<double>(ended_with - begun_with) / static_cast<double>(outer_end - outer_begin) * 0.999);
        EXPECT_LE(rate,
                  static_cast<double>(done_after - done_before) / static_cast<double>(inner_end - inner_begin) * 1.001);
    });
}

/// Iterations so long that a load that shares the ranks' processing units has its turn while samples are taken.
Plan busy_plan(Rank me, int ranks, std::uint32_t /*draw*/) {
    constexpr Nanoseconds busy_ns = 5'000'000;
    PlanBuilder builder(me);
    std::vector<Bytes> const bytes(static_cast<std::size_t>(ranks), Bytes{256});
    StepId const sent = builder.exchange(builder.group(world_of(ranks)), bytes, bytes, "dispatch");
    builder.compute(busy_ns, "dispatch.compute", {sent});
    return std::move(builder).finish();
}

TEST(BackgroundLoads, OnlyTheCellThatHasOneTellsOfIt) {
    using namespace testing;
    RunSpec spec{.ranks = 2,
                 .plan = busy_plan,
                 .draws = 1,
                 .options = brief(),
                 .cells = {without_fault(), without_fault(), without_fault()}};
    spec.beside = {"", "compute", "memory"};
    spec.options.iterations = 3;
    auto const before = threads_before();
    auto const told = run(spec);
    EXPECT_EQ(threads_after(before), before);
    ASSERT_EQ(told.front().size(), 3U);
    for (Told const& each : told.front()) {
        ASSERT_EQ(each.result.status, record::Status::ok) << each.result.reason;
        std::map<std::string, record::Figure> figures;
        for (record::Figure const& figure : each.result.figures) {
            figures[figure.name] = figure;
        }
        EXPECT_EQ(figures.count("involuntary_switches"), 1U);
        if (each.cell == 0) {
            for (auto const& [name, figure] : figures) {
                EXPECT_NE(name.rfind("load_", 0), 0U) << "no load, no figure of it";
            }
            continue;
        }
        ASSERT_EQ(figures.count("load_rate"), 1U);
        EXPECT_GT(figures["load_rate"].value, 0);
        EXPECT_EQ(figures["load_rate"].unit, each.cell == 1 ? "multiply-adds/s" : "B/s");
        EXPECT_GT(figures["load_slowdown"].value, 0);
        EXPECT_LE(figures["load_on_units_of_ranks"].value, 2);
    }
}

}  // namespace
}  // namespace dlmb::measure
