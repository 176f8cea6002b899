// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// On a test double of NVML (tests/fakes/nvml): a GPU at bus 04 is held down, one at 01 is idle, one at ee does not say.
#include "common/bootstrap/in_process/run_ranks.hpp"
#include "common/measure/diagnosis/rank_log.hpp"
#include "common/measure/environment/cpu_quota.hpp"
#include "tests/unit/measure/run_world.hpp"
#include "tests/unit/record/temporary_folder.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace dlmb::measure {
namespace {

/// What all ranks say, one rank per bus, each asked once.
std::optional<bool> over(std::vector<std::string> const& buses) {
    std::vector<std::optional<bool>> told(buses.size());
    in_process::run_ranks(static_cast<int>(buses.size()), [&](Bootstrap& bootstrap) {
        auto const rank = static_cast<std::size_t>(bootstrap.rank());
        Throttling const gpu("0000:" + buses[rank] + ":00.0", FAKE_NVML);
        ThrottleLog log(&gpu);
        log.ask();
        told[rank] = log.over_ranks(bootstrap);
    });
    EXPECT_EQ(std::count(told.begin(), told.end(), told.front()), static_cast<std::ptrdiff_t>(told.size()));
    return told.front();
}

TEST(ThrottleLog, OneRankIsEnough) {
    EXPECT_EQ(over({"01", "01"}), false);
    EXPECT_EQ(over({"01", "04"}), true);
    EXPECT_EQ(over({"ee", "04"}), true);
}

TEST(ThrottleLog, FullSpeedIsSaidOnlyWhereAllRanksKnow) {
    EXPECT_EQ(over({"01", "ee"}), std::nullopt);
}

TEST(ThrottleLog, KnowsNothingUnasked) {
    in_process::run_ranks(1, [](Bootstrap& bootstrap) {
        Throttling const gpu("0000:04:00.0", FAKE_NVML);
        EXPECT_EQ(ThrottleLog(&gpu).over_ranks(bootstrap), std::nullopt);
        ThrottleLog none(nullptr);
        none.ask();
        EXPECT_EQ(none.over_ranks(bootstrap), std::nullopt);
    });
}

TEST(ThrottleLog, ACellSaysWhatWasSeenBehindItsSamples) {
    using namespace testing;
    auto const throttled = [](std::optional<std::string> const& bus) {
        std::optional<Throttling> gpu;
        if (bus) {
            gpu.emplace("0000:" + *bus + ":00.0", FAKE_NVML);
        }
        return run({.ranks = 2, .options = brief(), .cells = {without_fault()}, .gpu = gpu ? &*gpu : nullptr})
            .at(0)
            .at(0)
            .result.throttled;
    };
    EXPECT_EQ(throttled("04"), true);
    EXPECT_EQ(throttled("01"), false);
    EXPECT_EQ(throttled(std::nullopt), std::nullopt);
}

/// A control group whose cpu.stat a test writes.
class FakeQuota {
public:
    FakeQuota() {
        record::write_file(root_ / "proc/self/cgroup", "0::/\n");
        say(0, 0, 0);
    }
    void say(int periods, int throttled, int throttled_us) const {
        record::write_file(
            root_ / "sys/fs/cgroup/cpu.stat",
            fmt::format("nr_periods {}\nnr_throttled {}\nthrottled_usec {}\n", periods, throttled, throttled_us));
    }
    [[nodiscard]] QuotaReader reader() const { return QuotaReader(root_); }

private:
    record::TemporaryFolder const folder_;
    std::filesystem::path const root_ = folder_ / "";
};

TEST(QuotaLog, CountsWhatHappensBetweenBeginAndEndOnly) {
    FakeQuota const quota;
    QuotaReader const reader = quota.reader();
    in_process::run_ranks(1, [&](Bootstrap& bootstrap) {
        QuotaLog log(&reader);
        EXPECT_EQ(log.over_ranks(bootstrap), std::nullopt);
        quota.say(10, 4, 100);
        log.begin();
        quota.say(13, 6, 350);
        log.end();
        quota.say(20, 9, 900);
        log.begin();
        quota.say(21, 10, 950);
        log.end();
        EXPECT_EQ(log.over_ranks(bootstrap), (record::QuotaUse{4, 3, 300'000}));
    });
}

TEST(QuotaLog, TellsTheLargestOverRanks) {
    FakeQuota const quota;
    QuotaReader const reader = quota.reader();
    in_process::run_ranks(2, [&](Bootstrap& bootstrap) {
        QuotaLog log(bootstrap.rank() == 1 ? &reader : nullptr);
        log.begin();
        bootstrap.barrier();
        quota.say(5, 1, 10);
        bootstrap.barrier();
        log.end();
        EXPECT_EQ(log.over_ranks(bootstrap), (record::QuotaUse{5, 1, 10'000}));
    });
}

}  // namespace
}  // namespace dlmb::measure
