// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/base/version.hpp"
#include "common/bootstrap/in_process/run_ranks.hpp"
#include "common/measure/environment/capture.hpp"

#include <gtest/gtest.h>

#include <sched.h>

namespace dlmb::measure {
namespace {

using Facts = std::map<std::string, std::string>;

TEST(EnvironmentKey, ChangesWithEveryNameAndValue) {
    Facts const facts{{"a", "1"}, {"b", "2"}};
    EXPECT_EQ(record::environment_key(facts).size(), 16U);
    for (Facts const& other : {Facts{{"a", "1"}}, Facts{{"a", "1"}, {"b", "3"}}, Facts{{"a", "1"}, {"c", "2"}},
                               Facts{{"a", "1b"}, {"", "2"}}, Facts{{"a", "2"}, {"b", "1"}}}) {
        EXPECT_NE(record::environment_key(other), record::environment_key(facts));
    }
}

std::vector<record::Environment> captured(
    int ranks, int ranks_per_node, std::function<void()> const& before = [] {}) {
    std::vector<record::Environment> all(static_cast<std::size_t>(ranks));
    in_process::run_ranks(ranks, ranks_per_node, [&](Bootstrap& bootstrap) {
        before();
        all[static_cast<std::size_t>(bootstrap.rank())] = capture_environment(bootstrap);
    });
    return all;
}

TEST(CaptureEnvironment, IsEqualOnAllRanksAndKnowsThemAll) {
    auto const all = captured(4, 2);
    for (record::Environment const& each : all) {
        EXPECT_EQ(each, all.front());
    }
    record::Environment const& environment = all.front();
    ASSERT_EQ(environment.ranks.size(), 4U);
    EXPECT_EQ(environment.ranks[3].rank, 3);
    EXPECT_EQ(environment.identity.at("ranks"), "4");
    EXPECT_EQ(environment.identity.at("nodes"), "2");
    EXPECT_EQ(environment.identity.at("ranks_per_node"), "2");
    EXPECT_EQ(environment.identity.at("bootstrap"), "in_process");
    EXPECT_EQ(environment.identity.at("result_schema"), "dlmb.result/1");
    EXPECT_EQ(environment.identity.at("build_type"), build_info().build_type);
    EXPECT_NE(environment.ranks[0].host, environment.ranks[3].host);
    EXPECT_EQ(environment.env_key, record::environment_key(environment.identity));
}

TEST(CaptureEnvironment, UnevenNodesAreNamedAsARange) {
    EXPECT_EQ(captured(3, 2).front().identity.at("ranks_per_node"), "1..2");
}

TEST(CaptureEnvironment, FindsTheMachineOfThisTest) {
    record::Environment const environment = captured(1, 0).front();
    EXPECT_NE(environment.identity.at("cpu_model"), "");
    EXPECT_GE(std::stoi(environment.identity.at("processing_units")), 1);
    EXPECT_GE(std::stoi(environment.identity.at("cores")), 1);
    EXPECT_NE(environment.ranks[0].cpuset, "");
    EXPECT_EQ(environment.informational.at("git_revision"), build_info().git_revision);
    EXPECT_EQ(environment.informational.at("time").size(), 20U);  // 2026-01-31T12:00:00Z
    EXPECT_EQ(environment.identity.count("time") + environment.identity.count("hosts") +
                  environment.identity.count("load"),
              0U);
}

TEST(CaptureEnvironment, ARankThatIsPinnedToOneUnitIsBound) {
    auto const pin = [] {
        cpu_set_t mask;
        CPU_ZERO(&mask);
        CPU_SET(static_cast<std::size_t>(sched_getcpu()), &mask);
        ASSERT_EQ(sched_setaffinity(0, sizeof mask, &mask), 0);  // of this thread only
    };
    record::Environment const environment = captured(2, 0, pin).front();
    EXPECT_TRUE(environment.ranks[0].bound);
    EXPECT_TRUE(environment.ranks[1].bound);
    EXPECT_EQ(environment.identity.at("binding"), "all");
    EXPECT_EQ(environment.ranks[0].cpuset.find_first_of(",-"), std::string::npos) << environment.ranks[0].cpuset;
}

TEST(CaptureEnvironment, ABuildThatMustNotBeTimedIsWarnedAbout) {
    bool const slow = build_info().build_type == "Debug" || !build_info().sanitizers.empty();
    bool warned = false;
    record::Environment const environment = captured(1, 0).front();
    for (std::string const& warning : environment.warnings) {
        warned = warned || warning.find("this build runs under sanitizers") != std::string::npos ||
                 warning.find("this is a Debug build") != std::string::npos;
    }
    EXPECT_EQ(warned, slow);
}

}  // namespace
}  // namespace dlmb::measure
