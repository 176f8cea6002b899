// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Data Movement Is All You Need (arXiv 2007.00072): the shortest path against every path there is, for 3 backends and 8
// steps, and its two limits.
#include "common/backends/tuned/path.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <limits>
#include <random>

namespace dlmb::tuned::path_test {
namespace {

constexpr std::array<char const*, 3> backends{"one", "two", "three"};
constexpr std::size_t steps = 8;
using Ways = std::vector<std::vector<PricedChoice>>;

Ways random_ways(std::mt19937& random) {
    std::uniform_int_distribution<int> ns(1, 100);
    Ways ways(steps);
    for (std::vector<PricedChoice>& step : ways) {
        for (char const* backend : backends) {
            step.push_back({{backend}, static_cast<double>(ns(random))});
        }
    }
    return ways;
}

double leaving(LeavingCosts const& costs, std::string const& from, std::string const& to) {
    return from == to ? 0 : costs.at(from);
}

double cost_of(Ways const& ways, std::vector<StepChoice> const& path, LeavingCosts const& costs) {
    double sum = 0;
    for (std::size_t step = 0; step < path.size(); ++step) {
        auto const way = std::find_if(ways[step].begin(), ways[step].end(), [&](PricedChoice const& each) {
            return each.choice.backend == path[step].backend;
        });
        sum += way->time_ns + leaving(costs, path[step].backend, path[(step + 1) % path.size()].backend);
    }
    return sum;
}

double least_of_all(Ways const& ways, LeavingCosts const& costs) {
    double least = std::numeric_limits<double>::infinity();
    std::vector<StepChoice> path(steps);
    for (std::size_t number = 0; number < 6561; ++number) {  // 3^8
        std::size_t rest = number;
        for (StepChoice& step : path) {
            step.backend = backends[rest % backends.size()];
            rest /= backends.size();
        }
        least = std::min(least, cost_of(ways, path, costs));
    }
    return least;
}

TEST(ShortestPath, CostsAsLittleAsTheBestOfAllPaths) {
    std::mt19937 random(7);
    std::uniform_int_distribution<int> ns(0, 60);
    for (int trial = 0; trial < 60; ++trial) {
        Ways const ways = random_ways(random);
        LeavingCosts costs;
        for (char const* backend : backends) {
            costs[backend] = ns(random);
        }
        EXPECT_DOUBLE_EQ(cost_of(ways, shortest_path(ways, costs), costs), least_of_all(ways, costs)) << trial;
    }
}

TEST(ShortestPath, IsTheFastestOfEachStepWhereChangesAreFree) {
    std::mt19937 random(8);
    Ways const ways = random_ways(random);
    std::vector<StepChoice> const path = shortest_path(ways, {});
    for (std::size_t step = 0; step < steps; ++step) {
        auto const fastest = std::min_element(ways[step].begin(), ways[step].end(),
                                              [](auto const& a, auto const& b) { return a.time_ns < b.time_ns; });
        EXPECT_EQ(path[step].backend, fastest->choice.backend) << step;
    }
}

TEST(ShortestPath, IsTheBestSingleBackendWhereChangesCostEverything) {
    std::mt19937 random(9);
    Ways const ways = random_ways(random);
    double const never = std::numeric_limits<double>::infinity();
    std::vector<StepChoice> const path = shortest_path(ways, {{"one", never}, {"two", never}, {"three", never}});
    std::array<double, 3> sums{};
    for (auto const& step : ways) {
        for (std::size_t backend = 0; backend < backends.size(); ++backend) {
            sums[backend] += step[backend].time_ns;
        }
    }
    auto const best = static_cast<std::size_t>(std::min_element(sums.begin(), sums.end()) - sums.begin());
    for (StepChoice const& step : path) {
        EXPECT_EQ(step.backend, backends[best]);
    }
}

TEST(ShortestPath, AStepThatOnlyOneBackendDoesIsDoneThereWhateverItCosts) {
    double const never = std::numeric_limits<double>::infinity();
    Ways const ways{{{{"one"}, 5}}, {{{"two"}, 5}, {{"three"}, 4}}, {{{"one"}, 5}}};
    std::vector<StepChoice> const path = shortest_path(ways, {{"one", never}, {"two", never}});
    ASSERT_EQ(path.size(), 3U);
    EXPECT_EQ(path[0].backend, "one");
    EXPECT_EQ(path[2].backend, "one");
    EXPECT_TRUE(shortest_path({}, {}).empty());
}

TEST(ShortestPath, AMethodInsideABackendChangesForNothing) {
    StepChoice const ring{"one", {"ring", {}}};
    StepChoice const tree{"one", {"tree", {}}};
    Ways const ways{{{ring, 1}, {{"two"}, 1}}, {{tree, 2}, {{"two"}, 1}}, {{ring, 1}, {{"two"}, 9}}};
    std::vector<StepChoice> const path = shortest_path(ways, {{"one", 100}, {"two", 100}});
    EXPECT_EQ(path[1].method.name, "tree");
}

}  // namespace
}  // namespace dlmb::tuned::path_test
