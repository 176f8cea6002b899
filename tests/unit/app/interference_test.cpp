// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/app/derived_figures.hpp"
#include "common/app/sweep.hpp"
#include "patterns/moe_alltoall/moe_alltoall.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace dlmb::app {
namespace {

using testing::ElementsAre;

record::Record cell_of(std::string const& beside, std::string const& backend, std::string const& method, double us,
                       bool is_default = false) {
    record::Record cell;
    cell.is_default = is_default;
    cell.identity.backend = backend;
    cell.identity.method = method;
    cell.identity.memory = "host";
    cell.identity.parameters = {{"beside", beside}, {"tokens", "128"}};
    cell.result.time.median = us * 1000;
    return cell;
}

// 300 us and 200 us take 400 us together: 400/300 of the longer, and 100 of the shorter one's 200 us cost no time.
TEST(Interference, IsTogetherOverTheLongerOfBothAlone) {
    Interference interference;
    interference.add_alone(cell_of("none", "mpi", "nonblocking", 300));
    interference.add_alone(cell_of("allreduce:4M:alone", "ucx", "auto", 200));
    record::Record together = cell_of("allreduce:4M", "mpi+ucx", "nonblocking", 400);
    interference.complete(together);
    EXPECT_DOUBLE_EQ(together.statistics.at("main_alone_us"), 300);
    EXPECT_DOUBLE_EQ(together.statistics.at("beside_alone_us"), 200);
    EXPECT_DOUBLE_EQ(together.statistics.at("interference"), 400.0 / 300);
    EXPECT_DOUBLE_EQ(together.statistics.at("overlap_share"), 0.5);
    EXPECT_EQ(interference_line(together),
              "# alone 300.000 us, beside alone 200.000 us: interference 1.333, overlap share 0.500\n");
}

TEST(Interference, OneAfterTheOtherHidesNothing) {
    Interference interference;
    interference.add_alone(cell_of("none", "ucx", "linear", 300));
    interference.add_alone(cell_of("allreduce:4M:alone", "ucx", "auto", 200, true));
    record::Record together = cell_of("allreduce:4M", "ucx", "linear", 500);
    interference.complete(together);
    EXPECT_DOUBLE_EQ(together.statistics.at("overlap_share"), 0);
}

TEST(Interference, WhatAMethodDoesNotChangeIsComparedWithTheDefault) {
    Interference interference;
    interference.add_alone(cell_of("none", "ucx", "pairwise", 250));
    record::Record together = cell_of("allreduce:4M", "ucx", "ring", 500);  // ring does no exchanges
    interference.add_alone(cell_of("allreduce:4M:alone", "ucx", "ring", 220));
    interference.add_alone(cell_of("allreduce:4M:alone", "ucx", "auto", 200, true));
    interference.complete(together);
    EXPECT_TRUE(together.statistics.empty()) << "its exchanges are not those of pairwise";
    interference.add_alone(cell_of("none", "ucx", "linear", 300, true));
    interference.complete(together);
    EXPECT_DOUBLE_EQ(together.statistics.at("main_alone_us"), 300);
    EXPECT_DOUBLE_EQ(together.statistics.at("beside_alone_us"), 220);
}

TEST(Interference, IsNotSaidWhereOneOfThemIsMissingOrCouldBeSeveral) {
    Interference interference;
    record::Record together = cell_of("allreduce:4M", "ucx", "pairwise", 500);
    interference.complete(together);
    EXPECT_TRUE(together.statistics.empty());
    interference.add_alone(cell_of("none", "ucx", "pairwise", 300));
    interference.add_alone(cell_of("allreduce:4M:alone", "ucx", "ring", 200));
    interference.add_alone(cell_of("allreduce:4M:alone", "ucx", "knomial", 210));
    interference.complete(together);
    EXPECT_TRUE(together.statistics.empty()) << "by ring or by knomial?";
    EXPECT_EQ(interference_line(together), "");
}

TEST(Interference, BothAreMeasuredAloneInTurnsWithThePointThatNeedsThem) {
    Options options;
    options.parameters["beside"] = {"none", "allreduce:4M", "allreduce:8K"};
    std::vector<SweepPoint> const points = with_points_alone(expand_sweep(moe_alltoall::type(), options));
    std::vector<std::string> titles;
    std::vector<bool> with_next;
    for (SweepPoint const& point : points) {
        titles.push_back(point.title);
        with_next.push_back(point.with_next);
    }
    EXPECT_THAT(titles, ElementsAre("beside=none", "beside=allreduce:4M:alone", "beside=allreduce:4M",
                                    "beside=allreduce:8K:alone", "beside=allreduce:8K"));
    EXPECT_THAT(with_next, ElementsAre(true, true, false, true, false));
}

}  // namespace
}  // namespace dlmb::app
