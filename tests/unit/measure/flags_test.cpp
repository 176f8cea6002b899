// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Which cells are flagged: drifts, steps and mixtures are, clean ones of any shape are not. Samples of a fixed seed.
#include "common/base/exact_math.hpp"
#include "common/base/philox.hpp"
#include "common/base/statistics/series.hpp"
#include "common/measure/sampling/summaries.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

namespace dlmb::measure {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr std::size_t sample_count = 600;

/// Sample i is `level(i, u)` microseconds, u uniform in (0, 1).
std::vector<Nanoseconds> cell(std::function<double(std::size_t, double)> const& level) {
    RandomSequence random(11, 0, 0, 0);
    std::vector<Nanoseconds> values(sample_count);
    for (std::size_t i = 0; i < sample_count; ++i) {
        values[i] = static_cast<Nanoseconds>(level(i, to_unit(random.next())) * 1000);
    }
    return values;
}

double normal(double u) {
    return 100 + 2 * exact::normal_quantile(u);
}

TEST(Flags, CleanSamplesOfAnyShapeHaveNone) {
    EXPECT_THAT(statistics::flags_of(cell([](std::size_t, double u) { return normal(u); }), 1), IsEmpty());
    EXPECT_THAT(statistics::flags_of(cell([](std::size_t, double u) { return 100 - 20 * std::log(u); }), 1), IsEmpty());
    EXPECT_THAT(statistics::flags_of(cell([](std::size_t, double u) { return 100 + 30 * u; }), 1), IsEmpty());
    EXPECT_THAT(statistics::flags_of(cell([](std::size_t, double) { return 100; }), 1), IsEmpty());
}

TEST(Flags, TenPercentOfDriftIsOne) {
    auto const drifting = [](double change) {
        return cell([change](std::size_t i, double u) {
            return normal(u) * (1 + change * static_cast<double>(i) / sample_count);
        });
    };
    EXPECT_THAT(statistics::flags_of(drifting(0.1), 1), Contains("drift"));
    EXPECT_THAT(statistics::flags_of(drifting(-0.1), 1), Contains("drift"));
    EXPECT_THAT(statistics::flags_of(drifting(0.03), 1), IsEmpty());
    EXPECT_NEAR(describe_series(drifting(0.1), 1)->drift, 0.1 / 1.05, 0.01);
}

TEST(Flags, AStepIsOneAndItsPlaceIsRecorded) {
    auto const stepping = [](double factor) {
        return cell([factor](std::size_t i, double u) { return normal(u) * (i < 450 ? 1 : factor); });
    };
    EXPECT_THAT(statistics::flags_of(stepping(1.08), 1), Contains("step"));
    EXPECT_NEAR(static_cast<double>(describe_series(stepping(1.08), 1)->step_at), 450, 5);
    EXPECT_THAT(statistics::flags_of(stepping(1.02), 1), IsEmpty());
}

// The mixture of section 8 of the measurement protocol: 30 % of the samples take 1.2 times as long.
TEST(Flags, AMixtureOfTwoLevelsIsBimodal) {
    auto const mixture = [](double factor) {
        return cell([factor](std::size_t i, double u) { return normal(u) * (i * 7 % 10 < 3 ? factor : 1); });
    };
    EXPECT_THAT(statistics::flags_of(mixture(1.2), 1), ElementsAre("bimodal"));
    EXPECT_THAT(statistics::flags_of(mixture(1.08), 1), IsEmpty());  // two levels, but near each other
}

TEST(Flags, DrawsThatDifferAreNotAnUnquietMachine) {
    std::vector<Nanoseconds> const routed =
        cell([](std::size_t i, double u) { return normal(u) * (i % 4 == 3 ? 2 : 1); });
    EXPECT_THAT(statistics::flags_of(routed, 4), IsEmpty());
    EXPECT_THAT(statistics::flags_of(routed, 1), ElementsAre("bimodal"));
}

TEST(Flags, FewSamplesSayNothing) {
    std::vector<Nanoseconds> few(29, 100);
    few.back() = 1000;
    std::fill(few.begin(), few.begin() + 14, 10);
    EXPECT_THAT(statistics::flags_of(few, 1), IsEmpty());
    EXPECT_FALSE(describe_series(std::vector<Nanoseconds>{5}, 1).has_value());
}

// Ten values of 1 and ten of e: all variance lies between the classes, and e / 1 - 1 apart they are.
TEST(Bimodality, TwoSharpLevelsAreSplitWithoutRemainder) {
    std::vector<double> values(10, 1.0);
    values.insert(values.end(), 10, std::exp(1.0));
    statistics::ClassSplit const split = statistics::best_split(values);
    EXPECT_NEAR(split.share, 1, 1e-12);
    EXPECT_NEAR(split.distance, std::exp(1.0) - 1, 1e-12);
    EXPECT_TRUE(statistics::is_bimodal(split));
}

TEST(Bimodality, AClassOfLessThanATenthIsATail) {
    std::vector<double> values(100, 1.0);
    std::fill(values.begin(), values.begin() + 5, 2.0);
    EXPECT_FALSE(statistics::is_bimodal(statistics::best_split(values)));
}

TEST(Bimodality, EqualValuesAreOneLevel) {
    EXPECT_EQ(statistics::best_split(std::vector<double>(50, 3.0)).share, 0);
}

TEST(BelowFloor, TwentyReadsOfTheTimerAreTheLeast) {
    EXPECT_TRUE(statistics::is_below_floor(499, 25, 0));
    EXPECT_FALSE(statistics::is_below_floor(500, 25, 0));
}

TEST(BelowFloor, SoAreTenErrorsOfACommonClock) {
    EXPECT_TRUE(statistics::is_below_floor(9'999, 25, 1000));
    EXPECT_FALSE(statistics::is_below_floor(10'000, 25, 1000));
}

}  // namespace
}  // namespace dlmb::measure
