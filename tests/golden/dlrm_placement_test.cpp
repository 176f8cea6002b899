// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Coarse against fine distribution of 26 tables whose bags follow Zipf(1.05), over 8 ranks; after
// "static coarse and fine distribution" of HONPAS (arXiv 2009.03559). Fine is no less even and has no fewer messages;
// lpt is within 4/3 of the optimum; totals stay; everything follows from sizes, ranks and seed.
#include "common/formats/plan/traffic.hpp"
#include "common/sizes/weights.hpp"
#include "tests/unit/dlrm_exchange/dlrm_fixture.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

namespace dlmb::dlrm_exchange {
namespace {

constexpr int ranks = 8;

/// Bag sizes of 26 tables: 100, 48, 32 ... 3.
std::vector<std::uint64_t> zipf_bags() {
    std::vector<std::uint64_t> bags;
    for (double const weight : zipf_weights(26, 1.05)) {
        bags.push_back(static_cast<std::uint64_t>(100 * weight));
    }
    return bags;
}

Parameters zipf(Parameters overrides) {
    std::string text;
    for (std::uint64_t const bag : zipf_bags()) {
        text += (text.empty() ? "" : "+") + std::to_string(bag);
    }
    overrides.insert({{"pooling", text}, {"rows", "8000"}, {"batch", "64"}});
    return overrides;
}

struct Outcome {
    double max_mean_indices = 0;
    double max_mean_pooled = 0;
    Bytes messages = 0;
    double index_bytes = 0;
};

Outcome outcome(Parameters const& overrides) {
    auto const pattern = make_dlrm(zipf(overrides), ranks);
    Outcome result;
    result.max_mean_indices = statistic(*pattern, ranks, "max_mean_index_received");
    result.max_mean_pooled = statistic(*pattern, ranks, "max_mean_pooled_sent");
    result.index_bytes = statistic(*pattern, ranks, "index_bytes_total");
    for (Plan const& plan : plans_of(zipf(overrides), ranks)) {
        result.messages += traffic_of(plan, "indices").messages;
    }
    return result;
}

TEST(DlrmPlacement, FineIsMoreEvenAndHasNoFewerMessagesThanCoarse) {
    Outcome const fine = outcome({{"sharding", "row"}});
    for (char const* placement : {"cyclic", "lpt:size", "lpt:pooling"}) {
        Outcome const coarse = outcome({{"placement", placement}});
        EXPECT_LE(fine.max_mean_indices, coarse.max_mean_indices) << placement;
        EXPECT_LE(fine.max_mean_pooled, coarse.max_mean_pooled) << placement;
        EXPECT_GE(fine.messages, coarse.messages) << placement;
        EXPECT_EQ(fine.index_bytes, coarse.index_bytes) << placement;
    }
    EXPECT_NEAR(fine.max_mean_indices, 1, 1e-12);  // 1000 rows on each rank
    EXPECT_GT(outcome({}).max_mean_indices, 1.5);
}

// The two placements of the same slices (8 of each table): fine gives every rank one slice of each, so that HONPAS's
// comparison holds for every seed; what travels in all is the same.
TEST(DlrmPlacement, FineOfSlicesIsMoreEvenThanCoarseForEverySeed) {
    auto const placed = [](std::string const& placement) {
        return outcome({{"sharding", "column"}, {"column-width", "8"}, {"placement", placement}});
    };
    for (char const* seed : {"1", "2", "3"}) {
        Outcome const fine = placed(std::string("fine:") + seed);
        Outcome const coarse = placed(std::string("coarse:") + seed);
        EXPECT_NEAR(fine.max_mean_indices, 1, 1e-12);
        EXPECT_NEAR(fine.max_mean_pooled, 1, 1e-12);
        EXPECT_GT(coarse.max_mean_indices, 1.5);  // 100 of the 349 indices are of one table: 2.29 at least
        EXPECT_LE(fine.max_mean_pooled, coarse.max_mean_pooled);
        EXPECT_GE(fine.messages, coarse.messages);
        EXPECT_EQ(fine.index_bytes, coarse.index_bytes);
    }
}

// Four tables leave four ranks without any: 4 x 7 messages against 8 x 7.
TEST(DlrmPlacement, FineSendsToRanksThatCoarseLeavesOut) {
    auto const messages = [](char const* sharding) {
        Bytes sum = 0;
        for (Plan const& plan : plans_of({{"tables", "4"}, {"pooling", "8"}, {"sharding", sharding}}, ranks)) {
            sum += traffic_of(plan, "indices").messages;
        }
        return sum;
    };
    EXPECT_EQ(messages("table"), 28U);
    EXPECT_EQ(messages("row"), 56U);
}

// Nobody can do better than the mean, or than the largest table alone on its rank.
TEST(DlrmPlacement, PoolingPlacementIsWithinFourThirdsOfTheOptimum) {
    std::vector<std::uint64_t> const bags = zipf_bags();
    auto const total = static_cast<double>(std::accumulate(bags.begin(), bags.end(), std::uint64_t{0}));
    double const best = std::max(static_cast<double>(bags.front()) * ranks / total, 1.0);
    EXPECT_LE(outcome({{"placement", "lpt:pooling"}}).max_mean_indices, 4.0 / 3 * best);
    EXPECT_GE(outcome({{"placement", "lpt:pooling"}}).max_mean_indices, best - 1e-12);
}

TEST(DlrmPlacement, DependsOnSizesRanksAndSeedOnly) {
    auto const plans = [](Draw draw, char const* bags) {
        return plans_of(zipf({{"placement", "lpt:pooling"}, {"bags", bags}}), ranks, "", draw);
    };
    EXPECT_EQ(plans({1, 0}, "uniform"), plans({1, 0}, "uniform"));
    EXPECT_NE(plans({1, 0}, "uniform"), plans({2, 0}, "uniform"));
    EXPECT_EQ(plans({1, 0}, "fixed"), plans({2, 5}, "fixed"));
    EXPECT_EQ(sent(plans({1, 0}, "uniform"), "forward"), sent(plans({2, 0}, "uniform"), "forward"));
}

}  // namespace
}  // namespace dlmb::dlrm_exchange
