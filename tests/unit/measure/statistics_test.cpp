// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Quantiles, the interval of the median and the straggler, against values derived by hand or by counting subsets.
#include "common/base/statistics/order_statistics.hpp"
#include "common/measure/sampling/summaries.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <vector>

namespace dlmb::measure {
namespace {

// n, n - 1, ... 1: the k-th smallest value is k, and the input is not sorted.
std::vector<Nanoseconds> descending(Nanoseconds n) {
    std::vector<Nanoseconds> values(static_cast<std::size_t>(n));
    std::iota(values.rbegin(), values.rend(), Nanoseconds{1});
    return values;
}

// Sum of C(n, k) for k = low .. high, over 2^n: exact in a double for the n used here.
double coin_mass(std::uint64_t n, std::uint64_t low, std::uint64_t high) {
    double binomial = 1;
    double mass = 0;
    for (std::uint64_t k = 0; k <= n; ++k) {
        mass += k >= low && k <= high ? binomial : 0;
        binomial = binomial * static_cast<double>(n - k) / static_cast<double>(k + 1);
    }
    return mass / std::pow(2.0, static_cast<double>(n));
}

TEST(Statistics, NoSamplesGiveZeros) {
    record::TimeSummary const summary = summarize({});
    EXPECT_EQ(summary.samples, 0U);
    EXPECT_EQ(summary.median, 0);
    EXPECT_FALSE(summary.p99.has_value());
}

TEST(Statistics, OneSampleHasNeitherIntervalNorPercentiles) {
    record::TimeSummary const summary = summarize(std::vector<Nanoseconds>{7});
    for (double const value : {summary.median, summary.min, summary.max, summary.mean}) {
        EXPECT_EQ(value, 7);
    }
    EXPECT_EQ(summary.samples, 1U);
    for (auto const& unknown : {summary.median_low, summary.median_high, summary.p90, summary.p95, summary.p99}) {
        EXPECT_FALSE(unknown.has_value()) << "one sample says nothing about others";
    }
}

TEST(Statistics, TheMedianOfTwoIsTheirMean) {
    EXPECT_EQ(summarize(std::vector<Nanoseconds>{10, 5}).median, 7.5);
}

// The extremes of 5 values enclose the median with 1 - 2 / 2^5 = 93.75 %, those of 6 with 96.9 %.
TEST(Statistics, TheIntervalOfTheMedianNeedsSixSamples) {
    EXPECT_FALSE(summarize(descending(5)).median_low.has_value());
    EXPECT_FALSE(summarize(descending(5)).median_high.has_value());
    EXPECT_EQ(summarize(descending(6)).median_low, 1);
    EXPECT_EQ(summarize(descending(6)).median_high, 6);
    EXPECT_FALSE(statistics::median_interval(std::vector<double>{1, 2, 3, 4, 5}).has_value());
}

// 0.9^28 = 0.0523, 0.9^29 = 0.0471; 0.95^58 = 0.0510, 0.95^59 = 0.0485; 0.5^4 = 0.0625, 0.5^5 = 0.0313.
TEST(Statistics, APercentileNeedsSoManySamplesThatTheyLieOnBothSidesOfIt) {
    struct Needed {
        std::uint64_t percent;
        Nanoseconds samples;
    };
    for (auto const& [percent, samples] :
         {Needed{50, 5}, Needed{90, 29}, Needed{10, 29}, Needed{95, 59}, Needed{99, 299}, Needed{1, 299}}) {
        std::vector<Nanoseconds> sorted = descending(samples);
        std::sort(sorted.begin(), sorted.end());
        EXPECT_EQ(statistics::percentile(sorted, percent), statistics::nearest_rank(sorted, percent)) << percent;
        sorted.pop_back();
        EXPECT_FALSE(statistics::percentile(sorted, percent).has_value()) << percent;
    }
    EXPECT_EQ(statistics::percentile(std::vector<Nanoseconds>{3}, 100), 3) << "the largest of whatever there is";
    EXPECT_FALSE(statistics::percentile({}, 100).has_value());
    EXPECT_FALSE(summarize(descending(28)).p90.has_value());
    EXPECT_EQ(summarize(descending(29)).p90, 27);  // ceil(26.1)
    EXPECT_FALSE(summarize(descending(58)).p95.has_value());
    EXPECT_EQ(summarize(descending(59)).p95, 57);  // ceil(56.05)
    EXPECT_FALSE(summarize(descending(298)).p99.has_value());
    EXPECT_EQ(summarize(descending(299)).p99, 297);  // ceil(296.01)
}

TEST(Statistics, ThreeSamplesAreSortedFirst) {
    record::TimeSummary const summary = summarize(std::vector<Nanoseconds>{9, 1, 2});
    EXPECT_EQ(summary.median, 2);
    EXPECT_EQ(summary.min, 1);
    EXPECT_EQ(summary.max, 9);
    EXPECT_EQ(summary.mean, 4);
}

// 1..8: x[2] and x[6] are the quartiles, so fences are at 2 - 6 and 6 + 6; distances to 4.5: 0.5 0.5 1.5 1.5 ...
TEST(Statistics, SpreadIsThatOfTheQuartiles) {
    record::TimeSummary const summary = summarize(descending(8));
    EXPECT_EQ(summary.q1, 2);
    EXPECT_EQ(summary.q3, 6);
    EXPECT_EQ(summary.mad, 2);  // of 0.5 0.5 1.5 1.5 2.5 2.5 3.5 3.5
    EXPECT_EQ(summary.outliers, 0U);
}

TEST(Statistics, OutliersAreCountedAndStay) {
    std::vector<Nanoseconds> samples = descending(8);
    samples.push_back(100);
    samples.push_back(12);  // q3 is 8 of ten values, q1 is 3: the fence is at 15.5
    record::TimeSummary const summary = summarize(samples);
    EXPECT_EQ(summary.outliers, 1U);
    EXPECT_EQ(summary.max, 100);
    EXPECT_EQ(summary.samples, 10U);
}

// Rounds 1, 3, 5: 100, 104, 102; rounds 2 and 4: 98, 106.
TEST(Statistics, TheSelfComparisonIsOddRoundsOverEvenOnes) {
    EXPECT_EQ(statistics::aa_ratio(std::vector<double>{100, 98, 104, 106, 102}), 1);
    EXPECT_DOUBLE_EQ(statistics::aa_ratio(std::vector<double>{110, 100}).value(), 1.1);
    EXPECT_FALSE(statistics::aa_ratio(std::vector<double>{110}).has_value());
    EXPECT_FALSE(statistics::aa_ratio({}).has_value());
}

TEST(Statistics, NearestRankIsExactWhereTheProductIsWhole) {
    EXPECT_EQ(statistics::nearest_rank(std::vector<Nanoseconds>{1, 2, 3, 4}, 50), 2);
    std::vector<Nanoseconds> twenty(20);
    std::iota(twenty.begin(), twenty.end(), Nanoseconds{1});
    EXPECT_EQ(statistics::nearest_rank(twenty, 95), 19);
    EXPECT_EQ(statistics::nearest_rank(twenty, 100), 20);
    EXPECT_EQ(statistics::nearest_rank(twenty, 1), 1);
}

// Widths of the interval of R round medians, from cumulative binomial tables: 1 for R 6..8, 2 for 9..11, 3 for 12..14,
// 4 for 15 and 16, 5 for 17..19, 6 for 20.
TEST(Statistics, RanksOfTheMedianIntervalAreThoseOfTheBinomialTable) {
    EXPECT_FALSE(statistics::median_interval_ranks(5).has_value());
    std::array<std::uint64_t, 15> const low{1, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 5, 5, 5, 6};
    for (std::uint64_t n = 6; n <= 20; ++n) {
        EXPECT_EQ(statistics::median_interval_ranks(n), (statistics::IntervalRanks{low[n - 6], n + 1 - low[n - 6]}))
            << n;
    }
}

TEST(Statistics, TheMedianIntervalIsTheNarrowestThatCoversNinetyFivePercent) {
    for (std::uint64_t n = 6; n <= 50; ++n) {
        statistics::IntervalRanks const ranks = statistics::median_interval_ranks(n).value();
        EXPECT_GE(coin_mass(n, ranks.low, n - ranks.low), 0.95) << n;
        EXPECT_LT(coin_mass(n, ranks.low + 1, n - ranks.low - 1), 0.95) << n;
    }
}

// Normal approximation: n/2 -+ 1.96 sqrt(n)/2, within one rank at these sizes.
TEST(Statistics, TheMedianIntervalIsStableForManySamples) {
    for (double const n : {1e4, 1e6, 1e8}) {
        statistics::IntervalRanks const ranks =
            statistics::median_interval_ranks(static_cast<std::uint64_t>(n)).value();
        EXPECT_NEAR(static_cast<double>(ranks.low), n / 2 - 1.959964 * std::sqrt(n) / 2, 1.0) << n;
        EXPECT_EQ(ranks.low + ranks.high, static_cast<std::uint64_t>(n) + 1);
    }
}

TEST(Statistics, TheIntervalIsReadOffTheSortedValues) {
    std::vector<double> const nine{9, 1, 8, 2, 7, 3, 6, 4, 5};
    statistics::Interval const interval = statistics::median_interval(nine).value();
    EXPECT_EQ(interval.low, 2);
    EXPECT_EQ(interval.high, 8);
}

TEST(Statistics, TheStragglerIsTheRankThatWasSlowestMostOften) {
    std::vector<Rank> const slowest{2, 0, 2, 1, 2, 1, 2, 2};
    record::Straggler const straggler = find_straggler(slowest, 4);
    EXPECT_EQ(straggler.rank, 2);
    EXPECT_EQ(straggler.share, 5.0 / 8.0);
    EXPECT_EQ(find_straggler(std::vector<Rank>{3, 1}, 4).rank, 1);  // a tie names the lower rank
    EXPECT_EQ(find_straggler({}, 4).share, 0);
}

}  // namespace
}  // namespace dlmb::measure
