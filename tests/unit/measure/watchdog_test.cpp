// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// The watchdog fires, once, and says what stood still. Whether it fires late is no matter of these tests.
#include "common/backend_kit/backend.hpp"
#include "common/measure/diagnosis/watchdog.hpp"
#include "tests/unit/measure/time_units.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <future>
#include <pthread.h>
#include <thread>
#include <unistd.h>

namespace dlmb::measure {
namespace {

using namespace std::chrono_literals;

/// The first call's argument; a second call would throw in the watchdog's thread and end the test program.
class Fired {
public:
    [[nodiscard]] std::function<void(HangReport const&)> call() {
        return [this](HangReport const& hang) { promise_.set_value(hang); };
    }
    [[nodiscard]] HangReport wait() { return future_.get(); }
    [[nodiscard]] bool fired_within(std::chrono::milliseconds time) const {
        return future_.wait_for(time) == std::future_status::ready;
    }

private:
    std::promise<HangReport> promise_;
    std::future<HangReport> future_ = promise_.get_future();
};

class HalfDone final : public CompiledPlan {
public:
    explicit HalfDone(std::size_t steps) : CompiledPlan(steps) {}
    void launch() override {
        begin();
        mark(0);
    }
    void finish() override {}
};

TEST(Watchdog, ExpiresAtOnceForATransportThatGaveUp) {
    Fired fired;
    Watchdog watchdog(fired.call());
    watchdog.arm("nccl native", 3'600'000 * ms);
    watchdog.activity("warm-up");
    watchdog.expire();
    HangReport const hang = fired.wait();
    EXPECT_EQ(hang.cell, "nccl native");
    EXPECT_EQ(hang.activity, "warm-up");
    EXPECT_EQ(hang.signal, 0);
}

TEST(Watchdog, NamesTheCellTheActivityAndTheStepThatStoodStill) {
    Plan plan;
    plan.steps = {{Compute{}, {}, "dispatch"}, {Compute{}, {0}, "combine"}};
    HalfDone compiled(2);
    Fired fired;
    Watchdog watchdog(fired.call());
    watchdog.arm("mpi alltoallv", 20 * ms);
    watchdog.activity("round 3");
    watchdog.iteration(&compiled, &plan);
    compiled.launch();
    HangReport const hang = fired.wait();
    EXPECT_EQ(hang.cell, "mpi alltoallv");
    EXPECT_EQ(hang.activity, "round 3");
    EXPECT_EQ(hang.step, "combine");
    EXPECT_EQ(hang.signal, 0);
    EXPECT_GE(hang.silent_ns, 20 * ms);
}

TEST(Watchdog, OutsideAnIterationNoStepIsNamed) {
    Plan plan;
    plan.steps = {{Compute{}, {}, "dispatch"}};
    HalfDone compiled(1);
    compiled.launch();  // its only step is done
    Fired fired;
    Watchdog watchdog(fired.call());
    watchdog.iteration(&compiled, &plan);
    watchdog.arm("cell", 1 * ms);
    EXPECT_EQ(fired.wait().step, "");
}

TEST(Watchdog, StaysQuietWhileItIsNotArmed) {
    Fired fired;
    {
        Watchdog watchdog(fired.call());
        watchdog.arm("one", 30'000 * ms);
        watchdog.disarm();
        watchdog.arm("two", 0);
        EXPECT_FALSE(fired.fired_within(20ms));
    }
    EXPECT_FALSE(fired.fired_within(0ms));
}

TEST(Watchdog, ATouchMovesTheDeadline) {
    Fired fired;
    Watchdog watchdog(fired.call());
    watchdog.arm("cell", 20'000 * ms);
    for (int i = 0; i < 20; ++i) {
        std::this_thread::sleep_for(1ms);
        watchdog.touch();
    }
    EXPECT_FALSE(fired.fired_within(0ms));
    watchdog.arm("cell", 10 * ms);  // sooner than the thread meant to wake
    EXPECT_GE(fired.wait().silent_ns, 10 * ms);
}

// A process-wide signal goes to the watchdog's thread because all others block it.
TEST(Watchdog, TurnsATerminationSignalIntoACall) {
    block_termination_signals();
    for (int const signal : {SIGTERM, SIGINT}) {
        Fired fired;
        Watchdog watchdog(fired.call());
        watchdog.arm("cell", 0);
        watchdog.activity("warm-up");
        ASSERT_EQ(kill(getpid(), signal), 0);
        HangReport const hang = fired.wait();
        EXPECT_EQ(hang.signal, signal);
        EXPECT_EQ(hang.cell, "cell");
        EXPECT_EQ(hang.activity, "warm-up");
    }
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGINT);
    ASSERT_EQ(pthread_sigmask(SIG_UNBLOCK, &signals, nullptr), 0);
}

}  // namespace
}  // namespace dlmb::measure
