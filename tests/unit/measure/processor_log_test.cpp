// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/bootstrap/in_process/run_ranks.hpp"
#include "common/measure/diagnosis/processor_log.hpp"
#include "tests/unit/measure/run_world.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <ctime>
#include <sched.h>
#include <sys/resource.h>
#include <thread>

namespace dlmb::measure {
namespace {

void pin_to(int processor) {
    cpu_set_t only;
    CPU_ZERO(&only);
    CPU_SET(static_cast<unsigned>(processor), &only);
    ASSERT_EQ(sched_setaffinity(0, sizeof only, &only), 0);
}

long switches() {
    rusage usage{};
    getrusage(RUSAGE_THREAD, &usage);
    return usage.ru_nivcsw;
}

TEST(ProcessorLog, CountsARivalOnTheSameProcessor) {
    in_process::run_ranks(1, [](Bootstrap& bootstrap) {
        pin_to(sched_getcpu());
        std::atomic<bool> over = false;
        std::thread rival([&] {
            while (!over) {
            }
        });
        ProcessorLog log(bootstrap);
        log.begin();
        for (long const before = switches(); switches() < before + 3;) {
        }
        log.end();
        over = true;
        rival.join();
        record::Figure const figure = log.over_ranks(bootstrap).front();
        EXPECT_GT(figure.value, 0);
        EXPECT_EQ(figure.better, record::Better::lower);
        for (record::Figure const& empty : ProcessorLog(bootstrap).over_ranks(bootstrap)) {
            EXPECT_EQ(empty.value, 0) << empty.name;
        }
    });
}

TEST(ProcessorLog, OnlyAProcessHasTheTimeOfItsOtherThreads) {
    in_process::run_ranks(1, [](Bootstrap& bootstrap) {
        ProcessorLog process(CLOCK_PROCESS_CPUTIME_ID);
        ProcessorLog thread(bootstrap);
        process.begin();
        thread.begin();
        constexpr std::clock_t used = CLOCKS_PER_SEC / 50;
        std::thread helper([until = std::clock() + used] {
            while (std::clock() < until) {
            }
        });
        helper.join();
        thread.end();
        process.end();
        record::Figure const of_process = process.over_ranks(bootstrap).back();
        EXPECT_EQ(of_process.name, "processors_used");
        EXPECT_GT(of_process.value, 2 * thread.over_ranks(bootstrap).back().value);
    });
}

TEST(ProcessorLog, ACellHasTheFigures) {
    using namespace testing;
    auto const told = run({.ranks = 2, .options = brief(), .cells = {without_fault()}});
    auto const& figures = told.front().front().result.figures;
    ASSERT_EQ(figures.size(), 2U);
    EXPECT_EQ(figures.front().name, "involuntary_switches");
    EXPECT_EQ(figures.back().name, "processors_used");
    EXPECT_GT(figures.back().value, 0);
}

}  // namespace
}  // namespace dlmb::measure
