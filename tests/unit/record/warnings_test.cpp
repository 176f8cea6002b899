// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Made-up machines and devices.
#include "common/bootstrap/in_process/run_ranks.hpp"
#include "common/record/warnings.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace dlmb::record {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(PlacementWarnings, NameUnboundRanksAndCrowdedHosts) {
    std::vector<RankPlace> const ranks{
        {0, "a", "0", "0", true}, {1, "a", "0-1", "0", false}, {2, "a", "0-1", "0", false}, {3, "b", "0", "0", true}};
    auto const warnings = placement_warnings(ranks, {{"a", 2}, {"b", 1}});
    ASSERT_EQ(warnings.size(), 2U);
    EXPECT_EQ(warnings[0].substr(0, 31), "2 of 4 ranks are not bound and ");
    EXPECT_EQ(warnings[1].substr(0, 37), "3 ranks share 2 processing units on a");
}

TEST(PlacementWarnings, AreNoneForBoundRanksOnRoomyHosts) {
    EXPECT_TRUE(placement_warnings({{0, "a", "0", "0", true}, {1, "a", "1", "0", true}}, {{"a", 2}}).empty());
}

TEST(Warnings, GovernorAndLoadAreWarnedOfByNode) {
    std::map<std::string, int> const ranks{{"a", 2}, {"b", 2}, {"c", 2}};
    auto const warnings =
        condition_warnings(ranks, {{"a", {"powersave", 0.5}}, {"b", {"performance", 2.5}}, {"c", {"", 2.0}}});
    EXPECT_THAT(warnings, ElementsAre(HasSubstr("of a is 'powersave'"), HasSubstr("b had a load of 2.5")));
}

TEST(Warnings, BoundRanksOnHalvesOfACoreAreWarnedOf) {
    auto const ranks = [](bool bound, std::vector<int> const& first, std::vector<int> const& second) {
        return std::vector<CoreUse>{{"a", bound, first, {0}}, {"a", bound, second, {0}}};
    };
    EXPECT_THAT(sibling_warnings(ranks(true, {0}, {4})), ElementsAre(HasSubstr("share 1 cores")));
    EXPECT_THAT(sibling_warnings(ranks(false, {0}, {4})), IsEmpty());  // unbound is a warning of its own
    EXPECT_THAT(sibling_warnings(ranks(true, {0}, {0})), IsEmpty());   // so are more ranks than units
    EXPECT_THAT(sibling_warnings({{"a", true, {0}, {0}}, {"b", true, {4}, {0}}}), IsEmpty());
}

RankPlace place(Rank rank, std::string host, std::string bus, bool other_numa_node = false) {
    return {rank, std::move(host), "0", "0", true, RankDevice{0, std::move(bus), 0, other_numa_node, "why"}};
}

TEST(GpusInUse, CountsADeviceOnceHoweverManyRanksShareIt) {
    EXPECT_EQ(gpus_in_use({place(0, "a", "1b"), place(1, "a", "1b"), place(2, "a", "9d")}, {"M", "M", "M"}),
              "M, 2 per node");
}

TEST(GpusInUse, NamesARangeWhereNodesDifferAndEveryModel) {
    EXPECT_EQ(gpus_in_use({place(0, "a", "1b"), place(1, "a", "9d"), place(2, "b", "1b"), place(3, "b", "2c")},
                          {"M", "M", "M", "N"}),
              "M, 1..2 per node; N, 1 per node");
}

TEST(GpusInUse, IsEmptyWithoutDevices) {
    EXPECT_EQ(gpus_in_use({{0, "a", "0", "0", true, {}}}, {""}), "");
}

TEST(DeviceWarnings, NameRanksFarFromTheirDevice) {
    Environment environment;
    environment.ranks = {place(0, "a", "1b"), place(1, "a", "9d", true), place(2, "a", "9e", true)};
    auto const warnings = device_warnings(environment);
    ASSERT_EQ(warnings.size(), 1U);
    EXPECT_EQ(warnings[0].substr(0, 76),
              "2 of 3 ranks run on another NUMA node than their GPU (the first: rank 1): wh");
    environment.ranks.resize(1);
    EXPECT_TRUE(device_warnings(environment).empty());
}

/// Every rank of two nodes on a device of this name.
Environment captured(std::string const& name) {
    Environment environment;
    in_process::run_ranks(4, 2, [&](Bootstrap& bootstrap) {
        DeviceUse use;
        use.device = Device{bootstrap.local_rank(),
                            name,
                            "0000:0" + std::to_string(bootstrap.local_rank()) + ":00.0",
                            -1,
                            4096,
                            0,
                            "9.0",
                            {}};
        use.reason = "--device";
        use.runtime_version = "13.0";
        use.driver_version = "12.9";
        Environment const mine = capture_environment(bootstrap, use);
        if (bootstrap.rank() == 3) {
            environment = mine;
        }
    });
    return environment;
}

TEST(CaptureEnvironment, HoldsTheDeviceOfEveryRank) {
    Environment const environment = captured("Example GPU");
    EXPECT_EQ(environment.identity.at("gpus"), "Example GPU, compute capability 9.0, 4096 B, 2 per node");
    EXPECT_EQ(environment.informational.at("cuda_runtime"), "13.0");
    EXPECT_EQ(environment.informational.at("cuda_driver"), "12.9");
    ASSERT_EQ(environment.ranks.size(), 4U);
    EXPECT_EQ(environment.ranks[1].device, (RankDevice{1, "0000:01:00.0", -1, false, "--device"}));
    EXPECT_FALSE(on_test_double(environment));
}

TEST(CaptureEnvironment, SaysThatATestDoubleMeasuresNothing) {
    Environment const environment = captured("DLMB test double 0");
    EXPECT_TRUE(on_test_double(environment));
    EXPECT_EQ(environment.warnings.back(), test_double_warning);
}

TEST(CaptureEnvironment, HasNoTraceOfDevicesWhereThereIsNone) {
    in_process::run_ranks(1, [&](Bootstrap& bootstrap) {
        Environment const environment = capture_environment(bootstrap);
        EXPECT_EQ(environment.identity.count("gpus"), 0U);
        EXPECT_EQ(environment.informational.count("cuda_runtime"), 0U);
        EXPECT_FALSE(environment.ranks[0].device.has_value());
    });
}

}  // namespace
}  // namespace dlmb::record
