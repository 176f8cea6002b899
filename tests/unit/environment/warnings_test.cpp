// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Made-up machines and devices.
#include "common/bootstrap/in_process/run_ranks.hpp"
#include "common/measure/environment/placement.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace dlmb::measure {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// A rank that may run on these processing units. Hosts are named "a", "b" ... by the number of the node.
RankFacts rank(std::string const& host, bool bound, std::vector<int> const& units = {}, std::vector<int> cores = {}) {
    RankFacts facts;
    facts.place.host = host;
    facts.place.node = host.front() - 'a';
    facts.place.bound = bound;
    facts.units = units;
    facts.cores = std::move(cores);
    return facts;
}

NodeFacts node(std::string const& name, int units, int ranks, std::string const& governor = "", double load = 0) {
    NodeFacts facts;
    facts.name = name;
    facts.units = units;
    facts.ranks = ranks;
    facts.governor = governor;
    facts.load = load;
    return facts;
}

TEST(PlacementWarnings, NameUnboundRanksAndCrowdedHosts) {
    auto const warnings = placement_warnings(
        {{rank("a", true), rank("a", false), rank("a", false), rank("b", true)}, {node("a", 2, 3), node("b", 1, 1)}});
    ASSERT_EQ(warnings.size(), 2U);
    EXPECT_EQ(warnings[0].substr(0, 31), "2 of 4 ranks are not bound and ");
    EXPECT_EQ(warnings[1].substr(0, 37), "3 ranks share 2 processing units on a");
}

TEST(PlacementWarnings, AreNoneForBoundRanksOnRoomyHosts) {
    EXPECT_THAT(placement_warnings({{rank("a", true), rank("a", true)}, {node("a", 2, 2)}}), IsEmpty());
}

TEST(PlacementWarnings, GovernorAndLoadAreWarnedOfByNode) {
    auto const warnings = placement_warnings(
        {{rank("a", true)},
         {node("a", 2, 2, "powersave", 0.5), node("b", 2, 2, "performance", 2.5), node("c", 2, 2, "", 2.0)}});
    EXPECT_THAT(warnings, ElementsAre(HasSubstr("of a is 'powersave'"), HasSubstr("b had a load of 2.5")));
}

TEST(PlacementWarnings, BoundRanksOnHalvesOfACoreAreWarnedOf) {
    auto const warnings = [](RankFacts const& one, RankFacts const& other) {
        return placement_warnings({{one, other}, {node("a", 8, 1), node("b", 8, 1)}});
    };
    EXPECT_THAT(warnings(rank("a", true, {0}, {0}), rank("a", true, {4}, {0})),
                ElementsAre(HasSubstr("share 1 cores")));
    // Unbound is a warning of its own, and so are more ranks than units.
    EXPECT_THAT(warnings(rank("a", false, {0}, {0}), rank("a", false, {4}, {0})), ElementsAre(HasSubstr("not bound")));
    EXPECT_THAT(warnings(rank("a", true, {0}, {0}), rank("a", true, {0}, {0})), IsEmpty());
    EXPECT_THAT(warnings(rank("a", true, {0}, {0}), rank("b", true, {4}, {0})), IsEmpty());
}

TEST(PlacementWarnings, NodesThatAreNotLikeThatOfRank0AreNamed) {
    NodeFacts first = node("a", 2, 1);
    NodeFacts second = node("b", 2, 1);
    first.identity["cpu_model"] = "Example CPU";
    second.identity["cpu_model"] = "Other CPU";
    second.identity["parameter_files"] = "OMPI_MCA_pml=ob1";
    EXPECT_THAT(placement_warnings({{rank("a", true), rank("b", true)}, {first, second}}),
                ElementsAre("node b differs from a: cpu_model is 'Other CPU', not 'Example CPU'",
                            "node b differs from a: parameter_files is 'OMPI_MCA_pml=ob1', not ''"));
}

TEST(PlacementWarnings, HostNamesThatAreNoNamesOfNodesAreSaid) {
    RankFacts twin = rank("a", true);
    twin.place.node = 1;
    EXPECT_THAT(placement_warnings({{rank("a", true), twin}, {node("a (node 0)", 2, 1), node("a (node 1)", 2, 1)}}),
                ElementsAre(HasSubstr("2 nodes have the host name 'a'")));
    RankFacts other_name = rank("b", true);
    other_name.place.node = 0;
    EXPECT_THAT(placement_warnings({{rank("a", true), other_name}, {node("a", 2, 2)}}),
                ElementsAre(HasSubstr("node 0 give 2 host names (a, b)")));
}

record::RankPlace place(Rank rank, std::string host, std::string bus, bool other_numa_node = false) {
    return {rank, std::move(host), "0", "0", true, record::RankDevice{0, std::move(bus), 0, other_numa_node, "why"}};
}

RankFacts on_gpu(std::string const& model, std::string const& host, std::string const& bus) {
    RankFacts facts;
    facts.place = place(0, host, bus);
    facts.place.node = host.front() - 'a';
    facts.device_model = model;
    return facts;
}

TEST(GpusInUse, CountsADeviceOnceHoweverManyRanksShareIt) {
    EXPECT_EQ(gpus_in_use({on_gpu("M", "a", "1b"), on_gpu("M", "a", "1b"), on_gpu("M", "a", "9d")}), "M, 2 per node");
}

TEST(GpusInUse, NamesARangeWhereNodesDifferAndEveryModel) {
    EXPECT_EQ(
        gpus_in_use({on_gpu("M", "a", "1b"), on_gpu("M", "a", "9d"), on_gpu("M", "b", "1b"), on_gpu("N", "b", "2c")}),
        "M, 1..2 per node; N, 1 per node");
}

TEST(GpusInUse, IsEmptyWithoutDevices) {
    EXPECT_EQ(gpus_in_use({rank("a", true)}), "");
}

TEST(DeviceWarnings, NameRanksFarFromTheirDevice) {
    record::Environment environment;
    environment.ranks = {place(0, "a", "1b"), place(1, "a", "9d", true), place(2, "a", "9e", true)};
    auto const warnings = device_warnings(environment);
    ASSERT_EQ(warnings.size(), 1U);
    EXPECT_EQ(warnings[0].substr(0, 76),
              "2 of 3 ranks run on another NUMA node than their GPU (the first: rank 1): wh");
    environment.ranks.resize(1);
    EXPECT_TRUE(device_warnings(environment).empty());
}

/// Every rank of two nodes on a device of this name.
record::Environment captured(std::string const& name) {
    record::Environment environment;
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
        record::Environment const mine = capture_environment(bootstrap, use);
        if (bootstrap.rank() == 3) {
            environment = mine;
        }
    });
    return environment;
}

TEST(CaptureEnvironment, HoldsTheDeviceOfEveryRank) {
    record::Environment const environment = captured("Example GPU");
    EXPECT_EQ(environment.identity.at("gpus"), "Example GPU, compute capability 9.0, 4096 B, 2 per node");
    EXPECT_EQ(environment.informational.at("cuda_runtime"), "13.0");
    EXPECT_EQ(environment.informational.at("cuda_driver"), "12.9");
    ASSERT_EQ(environment.ranks.size(), 4U);
    EXPECT_EQ(environment.ranks[1].device, (record::RankDevice{1, "0000:01:00.0", -1, false, "--device"}));
    EXPECT_FALSE(record::on_test_double(environment));
}

TEST(CaptureEnvironment, SaysThatATestDoubleMeasuresNothing) {
    record::Environment const environment = captured("DLMB test double 0");
    EXPECT_TRUE(record::on_test_double(environment));
    EXPECT_EQ(environment.warnings.back(), record::test_double_warning);
}

TEST(CaptureEnvironment, HasNoTraceOfDevicesWhereThereIsNone) {
    in_process::run_ranks(1, [&](Bootstrap& bootstrap) {
        record::Environment const environment = capture_environment(bootstrap);
        EXPECT_EQ(environment.identity.count("gpus"), 0U);
        EXPECT_EQ(environment.informational.count("cuda_runtime"), 0U);
        EXPECT_FALSE(environment.ranks[0].device.has_value());
    });
}

}  // namespace
}  // namespace dlmb::measure
