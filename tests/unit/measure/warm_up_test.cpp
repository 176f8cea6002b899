// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// The warm-up rule on scripted batches, and what one sample is made of.
#include "common/measure/cell_run.hpp"
#include "common/measure/sampling/stopping_rule.hpp"
#include "tests/unit/measure/time_units.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <numeric>
#include <vector>

namespace dlmb::measure {
namespace {

std::vector<std::uint64_t> batches(WarmUpRule rule, std::function<Nanoseconds(std::uint64_t)> const& iteration) {
    std::vector<std::uint64_t> sizes;
    while (std::uint64_t const batch = rule.next()) {
        Nanoseconds const each = iteration(rule.iterations());
        rule.add(batch, static_cast<double>(each), each * static_cast<Nanoseconds>(batch));
        sizes.push_back(batch);
    }
    return sizes;
}

auto steady(Nanoseconds each) {
    return [each](std::uint64_t) { return each; };
}

TEST(WarmUp, BatchesDoubleUntilTenIterationsAndTwoTenthsOfASecond) {
    EXPECT_EQ(batches({{}, 1, 50 * ms}, steady(50 * ms)), (std::vector<std::uint64_t>{1, 2, 4, 8}));
    // 1 + 2 + 4 + 8 + 16 + 32 iterations of 4 ms are 252 ms, one batch less 124 ms.
    EXPECT_EQ(batches({{}, 1, 4 * ms}, steady(4 * ms)), (std::vector<std::uint64_t>{1, 2, 4, 8, 16, 32}));
}

TEST(WarmUp, WithAShortTimeLimitItIsShorter) {
    // A fifth of 100 ms: 1 + 2 + 4 + 8 iterations of 2 ms.
    EXPECT_EQ(batches({{}, 1, 2 * ms, 100 * ms}, steady(2 * ms)), (std::vector<std::uint64_t>{1, 2, 4, 8}));
    // Ten iterations do not fit into five times the limit.
    EXPECT_EQ(batches({{}, 1, 80 * ms, 100 * ms}, steady(80 * ms)), (std::vector<std::uint64_t>{1, 2, 3}));
}

TEST(WarmUp, EveryDrawRunsOnce) {
    EXPECT_EQ(batches({{}, 20, 50 * ms}, steady(50 * ms)), (std::vector<std::uint64_t>{1, 2, 4, 8, 16}));
}

TEST(WarmUp, ItGoesOnWhileTheBatchMediansMove) {
    // Halves from batch to batch until 255 iterations are through: the batches after that agree.
    auto const settling = [](std::uint64_t done) {
        return 16 * ms / static_cast<Nanoseconds>(std::min<std::uint64_t>(done, 255) + 1);
    };
    std::vector<std::uint64_t> const sizes = batches({{}, 1, 16 * ms}, settling);
    EXPECT_GT(sizes.size(), 9U);
}

TEST(WarmUp, ThreeSecondsAreTheMost) {
    std::vector<Nanoseconds> each{100 * ms};  // faster by a tenth from batch to batch: no two agree
    std::vector<std::uint64_t> const sizes =
        batches({{}, 1, 100 * ms}, [&](std::uint64_t) { return each.emplace_back(each.back() * 9 / 10); });
    Nanoseconds const total = std::transform_reduce(
        sizes.begin(), sizes.end(), each.begin() + 1, Nanoseconds{0}, std::plus<>{},
        [](std::uint64_t batch, Nanoseconds one) { return static_cast<Nanoseconds>(batch) * one; });
    EXPECT_LE(total, 3 * s);
    EXPECT_GT(total, 2900 * ms);
    EXPECT_EQ(batches({{}, 1, 2 * s}, steady(2 * s)), (std::vector<std::uint64_t>{1}));
}

TEST(WarmUp, AColdFirstIterationDoesNotReplaceTheWarmUp) {
    EXPECT_EQ(batches({{}, 1, 5 * s}, steady(50 * ms)), (std::vector<std::uint64_t>{1, 2, 4, 8}));
}

TEST(WarmUp, AFixedCountIsExact) {
    for (std::uint64_t const count : {0U, 1U, 17U, 10'000U}) {
        std::vector<std::uint64_t> const sizes = batches({count, 4, 1 * us}, steady(1 * us));
        EXPECT_EQ(std::accumulate(sizes.begin(), sizes.end(), std::uint64_t{0}), count);
    }
}

TEST(SampleShape, AnIsolatedSampleIsOneIterationAfterUpToThreeUnrecordedOnes) {
    SampleShape const fast = sample_shape({}, 4, 10e3);
    EXPECT_EQ(fast.iterations, 1U);
    EXPECT_EQ(fast.unrecorded, 3U);
    EXPECT_EQ(sample_shape({}, 4, 150e6).unrecorded, 1U);  // 2 % of 10 s hold one iteration of 150 ms
    EXPECT_EQ(sample_shape({}, 4, 2e9).unrecorded, 0U);
    EXPECT_EQ(sample_shape({.warmup = 0U}, 4, 10e3).unrecorded, 0U);
}

TEST(SampleShape, AStreamSampleIsSixteenIterationsAndTenMillisecondsInWholePasses) {
    EXPECT_EQ(sample_shape({.mode = Mode::stream}, 1, 10e3).iterations, 1000U);
    EXPECT_EQ(sample_shape({.mode = Mode::stream}, 7, 10e3).iterations, 1001U);
    EXPECT_EQ(sample_shape({.mode = Mode::stream}, 1, 5e6).iterations, 16U);
    RunnerOptions const flushes{.mode = Mode::stream, .cache = record::CacheMode::flush};
    EXPECT_EQ(sample_shape(flushes, 1, 10e3).iterations, 1U) << "a second one would find the caches warm";
}

// The count is of iterations: the samples together have exactly so many.
TEST(SampleShape, AFixedCountIsDividedIntoEqualSamplesOfAStream) {
    auto const shape = [](std::uint64_t count, std::uint64_t draws, double iteration_ns) {
        return sample_shape({.mode = Mode::stream, .iterations = count}, draws, iteration_ns).iterations;
    };
    EXPECT_EQ(shape(1000, 1, 10e3), 125U);      // six samples would have 166: the next smaller divisor of 1000
    EXPECT_EQ(shape(160, 1, 10e3), 20U);        // eight samples
    EXPECT_EQ(shape(960, 4, 10e3), 160U);       // six
    EXPECT_EQ(shape(1000, 1, 5e6), 20U);        // 16 are long enough: the next divisor
    EXPECT_EQ(shape(100'000, 1, 10e3), 1000U);  // 10 ms
    EXPECT_EQ(shape(6, 3, 10e3), 6U);
    EXPECT_EQ(shape(997, 1, 10e3), 997U);  // a prime
    EXPECT_EQ(shape(1994, 1, 10e3), 997U);
    EXPECT_EQ(shape(960, 4, 5e6) % 4, 0U);
    EXPECT_EQ(shape(1, 4, 5e6), 1U);
}

TEST(SampleShape, ModesOfOtherSuitesTakeTheirOwnCounts) {
    OsuProgram const program = osu_collective(8);
    RunnerOptions const osu = with_counts({.mode = Mode::osu}, program);
    EXPECT_EQ(osu.iterations, 1000U);
    EXPECT_EQ(osu.warmup, 100U);
    EXPECT_EQ(with_counts({.mode = Mode::osu}, osu_collective(8193)).iterations, 100U);
    EXPECT_EQ(with_counts({.mode = Mode::osu}, osu_latency(8192)).iterations, 10'000U);
    EXPECT_EQ(with_counts({.mode = Mode::osu}, osu_windows(8193, false, 2)).iterations, 20U);
    RunnerOptions const rate = with_counts({.mode = Mode::osu}, osu_windows(8193, true, 2));
    EXPECT_EQ(rate.iterations, 100U);  // osu_mbw_mr.c does not look at LARGE_MESSAGE_SIZE
    EXPECT_EQ(rate.warmup, 10U);
    EXPECT_EQ(with_counts({.mode = Mode::osu, .iterations = 7U}, program).iterations, 7U);
    EXPECT_EQ(with_counts({.mode = Mode::osu, .time_limited = true}, program).iterations, std::nullopt);
    RunnerOptions const nccl = with_counts({.mode = Mode::nccl}, program);
    EXPECT_EQ(nccl.warmup, 1U);
    EXPECT_EQ(sample_shape(nccl, 1, 10e3).iterations, 20U);
    EXPECT_EQ(with_counts({}, program).iterations, std::nullopt);
}

// measurement page, section 6: below 10 us a device's iterations are batched to 100 us.
TEST(SampleShape, ShortIterationsOfADeviceAreAggregated) {
    EXPECT_EQ(sample_shape({}, 1, 5e3, true).iterations, 20U);
    EXPECT_EQ(sample_shape({}, 3, 5e3, true).iterations, 21U);  // whole passes over the draws
    EXPECT_EQ(sample_shape({}, 1, 10e3, true).iterations, 1U);
    EXPECT_EQ(sample_shape({}, 1, 5e3, false).iterations, 1U);
}

TEST(SampleShape, ASlowStreamStillFitsThreeSamplesIntoTheTimeLimit) {
    EXPECT_EQ(sample_shape({.mode = Mode::stream}, 2, 1e9).iterations, 2U);  // 10 s / 3 samples / 1 s, whole passes
    EXPECT_EQ(sample_shape({.mode = Mode::stream}, 8, 1e9).iterations, 3U);
    EXPECT_EQ(sample_shape({.mode = Mode::stream}, 1, 60e9).iterations, 1U);
}

}  // namespace
}  // namespace dlmb::measure
