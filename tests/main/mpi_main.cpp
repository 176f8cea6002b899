// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// gtest's main for tests that run as several MPI ranks: rank 0 prints, other ranks print only their failures, one
// failing rank fails the launch, a filter that leaves no test does, too, and a test that hangs is named before the
// launch is aborted. A test that does many things in turn says SUCCEED() behind each, from where a hang is counted.
#include <gtest/gtest.h>
#include <mpi.h>

#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

namespace {

constexpr int skipped_code = 77;  // CTest's SKIP_RETURN_CODE
constexpr int hang_code = 124;
// Of the rank's own time on a core: ranks that wait for one another take many times as long where other work runs. A
// rank that sleeps has none, so there is a limit to the time outside, too, below CTest's, which does not know the test.
constexpr std::chrono::seconds cpu_limit{120};
constexpr std::chrono::seconds limit{600};

std::chrono::nanoseconds cpu_time() {
    timespec time{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return std::chrono::seconds{time.tv_sec} + std::chrono::nanoseconds{time.tv_nsec};
}

class FailurePrinter final : public testing::EmptyTestEventListener {
public:
    explicit FailurePrinter(int rank) : rank_(rank) {}

private:
    void OnTestPartResult(testing::TestPartResult const& result) override {
        if (result.failed()) {
            std::fprintf(stderr, "rank %d: %s:%d: %s\n", rank_, result.file_name() == nullptr ? "" : result.file_name(),
                         result.line_number(), result.message());
        }
    }
    int rank_;
};

// MPI_Abort and not _Exit: only then does the launcher return the code and end the other ranks.
class HangGuard final : public testing::EmptyTestEventListener {
public:
    explicit HangGuard(int rank) : rank_(rank), thread_([this] { watch(); }) {}
    HangGuard(HangGuard const&) = delete;
    HangGuard& operator=(HangGuard const&) = delete;
    HangGuard(HangGuard&&) = delete;
    HangGuard& operator=(HangGuard&&) = delete;
    ~HangGuard() override {
        {
            std::lock_guard const lock(mutex_);
            stopping_ = true;
        }
        changed_.notify_one();
        thread_.join();
    }

private:
    void OnTestStart(testing::TestInfo const& test) override {
        set(std::string(test.test_suite_name()) + "." + test.name());
    }
    void OnTestPartResult(testing::TestPartResult const& /*result*/) override {
        std::lock_guard const lock(mutex_);
        restart();
    }
    void OnTestEnd(testing::TestInfo const& /*test*/) override { set(""); }

    void set(std::string running) {
        {
            std::lock_guard const lock(mutex_);
            running_ = std::move(running);
            restart();
        }
        changed_.notify_one();
    }

    void restart() {
        started_ = std::chrono::steady_clock::now();
        cpu_at_start_ = cpu_time();
    }

    void watch() {
        std::unique_lock lock(mutex_);
        while (!stopping_) {
            changed_.wait_for(lock, std::chrono::seconds{1});
            bool const hangs =
                std::chrono::steady_clock::now() - started_ >= limit || cpu_time() - cpu_at_start_ >= cpu_limit;
            if (!running_.empty() && hangs) {
                std::fprintf(stderr,
                             "rank %d: %s completed nothing within %lld s of processor time or %lld s in all; aborting "
                             "all ranks\n",
                             rank_, running_.c_str(), static_cast<long long>(cpu_limit.count()),
                             static_cast<long long>(limit.count()));
                MPI_Abort(MPI_COMM_WORLD, hang_code);
            }
        }
    }

    int rank_;
    std::mutex mutex_;
    std::condition_variable changed_;
    std::string running_;
    std::chrono::steady_clock::time_point started_;
    std::chrono::nanoseconds cpu_at_start_{0};
    bool stopping_ = false;
    std::thread thread_;  // last: it reads the members above
};

}  // namespace

int main(int argc, char** argv) {
    int provided = 0;
    bool const multiple = std::getenv("DLMB_TEST_MPI_THREAD_MULTIPLE") != nullptr;
    MPI_Init_thread(&argc, &argv, multiple ? MPI_THREAD_MULTIPLE : MPI_THREAD_FUNNELED, &provided);
    testing::InitGoogleTest(&argc, argv);
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);

    testing::TestEventListeners& listeners = testing::UnitTest::GetInstance()->listeners();
    if (rank != 0) {
        delete listeners.Release(listeners.default_result_printer());
        listeners.Append(std::make_unique<FailurePrinter>(rank).release());
    }
    auto guard = std::make_unique<HangGuard>(rank);
    listeners.Append(guard.get());

    int const own = RUN_ALL_TESTS();
    listeners.Release(guard.get());
    guard.reset();

    testing::UnitTest const& unit = *testing::UnitTest::GetInstance();
    if (unit.test_to_run_count() == 0 && rank == 0) {
        std::fputs("--gtest_filter leaves no test: a name has changed\n", stderr);
    }
    bool const all_skipped = unit.test_to_run_count() > 0 && unit.skipped_test_count() == unit.test_to_run_count();
    int mine[2] = {unit.test_to_run_count() == 0 ? 1 : own, all_skipped ? 0 : 1};
    int worst[2] = {1, 1};
    MPI_Allreduce(mine, worst, 2, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    MPI_Finalize();
    if (worst[0] != 0) {
        return 1;
    }
    return worst[1] == 0 ? skipped_code : 0;
}
