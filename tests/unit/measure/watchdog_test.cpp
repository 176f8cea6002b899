// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// The watchdog fires, once, and says what stood still. Whether it fires late is no matter of these tests.
#include "common/backend_kit/backend.hpp"
#include "common/base/clock.hpp"
#include "common/measure/diagnosis/watchdog.hpp"
#include "tests/unit/measure/time_units.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <pthread.h>
#include <thread>
#include <unistd.h>

namespace dlmb::measure {
namespace {

using namespace std::chrono_literals;

struct Copied {
    std::string cell;
    std::string activity;
    std::string step;
    Nanoseconds silent_ns = 0;
    int signal = 0;
};

/// Keeps the first report. A second one ends the test program. Copying allocates, which a signal handler may not do in
/// general: here it interrupts nothing but wait().
class Fired {
public:
    [[nodiscard]] std::function<void(HangReport const&)> call() {
        return [this](HangReport const& hang) {
            if (done_.exchange(true)) {
                std::abort();
            }
            copied_ = {std::string(hang.cell), std::string(hang.activity), std::string(hang.step), hang.silent_ns,
                       hang.signal};
        };
    }
    [[nodiscard]] Copied wait() const {
        while (!done_) {
            std::this_thread::sleep_for(1ms);
        }
        return copied_;
    }
    [[nodiscard]] bool fired_within(std::chrono::milliseconds time) const {
        auto const end = std::chrono::steady_clock::now() + time;
        do {
            std::this_thread::sleep_for(1ms);
        } while (!done_ && std::chrono::steady_clock::now() < end);
        return done_;
    }

private:
    std::atomic<bool> done_{false};
    Copied copied_;
};

/// Its steps complete in the order that it is given.
class InOrder final : public CompiledPlan {
public:
    InOrder(std::size_t steps, std::vector<StepId> order, bool keeps_marks)
        : CompiledPlan(steps), order_(std::move(order)) {
        keep_marks(keeps_marks);
    }
    void launch() override {
        begin();
        for (StepId const step : order_) {
            mark(step);
        }
    }
    void finish() override {}

private:
    std::vector<StepId> order_;
};

TEST(Watchdog, ExpiresAtOnceForATransportThatGaveUp) {
    Fired fired;
    Watchdog watchdog(fired.call());
    watchdog.arm("nccl native", 3'600'000 * ms);
    watchdog.activity("warm-up");
    watchdog.expire();
    Copied const hang = fired.wait();
    EXPECT_EQ(hang.cell, "nccl native");
    EXPECT_EQ(hang.activity, "warm-up");
    EXPECT_EQ(hang.signal, 0);
}

TEST(Watchdog, NamesTheCellTheActivityAndTheStepThatStoodStill) {
    Plan plan;
    plan.steps = {{Compute{}, {}, "dispatch"}, {Compute{}, {0}, "combine"}};
    InOrder compiled(2, {0}, true);
    Fired fired;
    Watchdog watchdog(fired.call());
    watchdog.arm("mpi alltoallv", 20 * ms);
    watchdog.activity("round 3");
    watchdog.iteration(&compiled, &plan);
    compiled.launch();
    Copied const hang = fired.wait();
    EXPECT_EQ(hang.cell, "mpi alltoallv");
    EXPECT_EQ(hang.activity, "round 3");
    EXPECT_EQ(hang.step, "combine");
    EXPECT_EQ(hang.signal, 0);
    EXPECT_GE(hang.silent_ns, 20 * ms);
}

TEST(Watchdog, NamesTheFirstStepThatIsNotDoneAlsoWhereStepsAreNoChain) {
    Plan plan;
    plan.steps = {{Compute{}, {}, "from rank 1"}, {Compute{}, {}, "from rank 2"}, {Compute{}, {1}, "to rank 2"}};
    struct Case {
        std::vector<StepId> complete;
        std::string open;
    };
    for (auto const& [complete, open] :
         {Case{{1}, "from rank 1"}, Case{{1, 2}, "from rank 1"}, Case{{0}, "from rank 2"}, Case{{1, 0}, "to rank 2"}}) {
        InOrder compiled(plan.steps.size(), complete, false);
        compiled.launch();
        Fired fired;
        Watchdog watchdog(fired.call());
        watchdog.iteration(&compiled, &plan);
        watchdog.expire();
        EXPECT_EQ(fired.wait().step, open) << complete.size() << " steps are done";
    }
}

TEST(CompiledPlan, FindsTheOpenStepAmongMany) {
    constexpr StepId steps = 10'000;
    constexpr StepId open = 9'000;
    std::vector<StepId> complete;
    for (StepId step = steps; step-- > 0;) {
        if (step != open) {
            complete.push_back(step);
        }
    }
    InOrder compiled(steps, complete, false);
    compiled.launch();
    EXPECT_EQ(compiled.first_open_step(), open);
}

TEST(Watchdog, OutsideAnIterationNoStepIsNamed) {
    Plan plan;
    plan.steps = {{Compute{}, {}, "dispatch"}};
    InOrder compiled(1, {0}, true);
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
    Nanoseconds const touched = now_ns() + 30 * ms;
    {
        HeldSignals const held;
        watchdog.arm("cell", 1 * ms);  // sooner than the timer is set to
        watchdog.touch(touched);
    }
    EXPECT_GE(fired.wait().silent_ns, 1 * ms);
    EXPECT_GE(now_ns(), touched + 1 * ms);
}

// A sample of many iterations ends with its only touch.
TEST(Watchdog, IterationsThatFollowEachOtherAreProgress) {
    Plan const plan;
    InOrder compiled(1, {0}, true);
    Fired fired;
    Watchdog watchdog(fired.call());
    watchdog.arm("cell", 500 * ms);
    auto const end = std::chrono::steady_clock::now() + 1200ms;
    while (std::chrono::steady_clock::now() < end) {
        std::this_thread::sleep_for(1ms);
        watchdog.iteration(&compiled, &plan);
    }
    EXPECT_FALSE(fired.fired_within(0ms));
    EXPECT_GE(fired.wait().silent_ns, 500 * ms) << "since the last of them";
}

// The kernel may choose any thread that does not block a signal of the process.
TEST(Watchdog, TurnsATerminationSignalIntoACallOnItsOwnThread) {
    for (int const signal : {SIGTERM, SIGINT}) {
        Fired fired;
        pthread_t called_on{};
        Watchdog watchdog(
            [&, call = fired.call()](HangReport const& hang) {
                called_on = pthread_self();
                call(hang);
            },
            Watchdog::Signals::taken);
        watchdog.arm("cell", 0);
        watchdog.activity("warm-up");
        std::thread([signal] { pthread_kill(pthread_self(), signal); }).join();
        Copied const hang = fired.wait();
        EXPECT_EQ(hang.signal, signal);
        EXPECT_EQ(hang.cell, "cell");
        EXPECT_EQ(hang.activity, "warm-up");
        EXPECT_NE(pthread_equal(called_on, pthread_self()), 0);
    }
}

TEST(Watchdog, HeldSignalsWaitForTheEndOfTheHold) {
    Fired fired;
    Watchdog watchdog(fired.call(), Watchdog::Signals::taken);
    {
        HeldSignals const held;
        watchdog.arm("cell", 1 * ms);
        ASSERT_EQ(kill(getpid(), SIGTERM), 0);
        EXPECT_FALSE(fired.fired_within(20ms));
    }
    EXPECT_TRUE(fired.fired_within(0ms));
}

TEST(Watchdog, EachThreadHasItsOwnDeadline) {
    Fired late;
    Fired never;
    Watchdog here(never.call());
    here.arm("here", 3'600'000 * ms);
    std::thread([&] {
        Watchdog there(late.call());
        there.arm("there", 5 * ms);
        EXPECT_EQ(late.wait().cell, "there");
    }).join();
    EXPECT_FALSE(never.fired_within(0ms));
}

TEST(Watchdog, ATerminationSignalEndsAProgramAgainOnceItIsGone) {
    {
        Watchdog const watchdog([](HangReport const&) {}, Watchdog::Signals::taken);
    }
    EXPECT_EXIT((void)kill(getpid(), SIGTERM), ::testing::KilledBySignal(SIGTERM), "");
}

}  // namespace
}  // namespace dlmb::measure
