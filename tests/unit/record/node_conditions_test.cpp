// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/record/node_conditions.hpp"
#include "tests/unit/record/temporary_folder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace dlmb::record {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(NodeConditions, AreWhatLinuxTells) {
    TemporaryFolder const folder;
    write_file(folder / "proc/loadavg", "3.25 1.00 0.50 2/345 678\n");
    write_file(folder / "sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "powersave\n");
    NodeConditions const conditions = read_conditions(folder / "");
    EXPECT_EQ(conditions.governor, "powersave");
    EXPECT_EQ(conditions.load, 3.25);
    NodeConditions const unknown = read_conditions(folder / "nowhere");
    EXPECT_EQ(unknown.governor, "");
    EXPECT_EQ(unknown.load, 0);
}

TEST(NodeConditions, ThreadsOfOneCoreAreOneCore) {
    TemporaryFolder const folder;
    for (int const unit : {0, 4}) {
        write_file(folder / ("sys/devices/system/cpu/cpu" + std::to_string(unit)) / "topology/thread_siblings_list",
                   "0,4\n");
    }
    EXPECT_THAT(cores_of({0, 4, 7}, folder / ""), ElementsAre(0, 7));
}

TEST(NodeConditions, GovernorAndLoadAreWarnedOfByNode) {
    std::map<std::string, int> const ranks{{"a", 2}, {"b", 2}, {"c", 2}};
    auto const warnings =
        condition_warnings(ranks, {{"a", {"powersave", 0.5}}, {"b", {"performance", 2.5}}, {"c", {"", 2.0}}});
    EXPECT_THAT(warnings, ElementsAre(HasSubstr("of a is 'powersave'"), HasSubstr("b had a load of 2.5")));
}

TEST(NodeConditions, BoundRanksOnHalvesOfACoreAreWarnedOf) {
    auto const ranks = [](bool bound, std::vector<int> const& first, std::vector<int> const& second) {
        return std::vector<CoreUse>{{"a", bound, first, {0}}, {"a", bound, second, {0}}};
    };
    EXPECT_THAT(sibling_warnings(ranks(true, {0}, {4})), ElementsAre(HasSubstr("share 1 cores")));
    EXPECT_THAT(sibling_warnings(ranks(false, {0}, {4})), IsEmpty());  // unbound is a warning of its own
    EXPECT_THAT(sibling_warnings(ranks(true, {0}, {0})), IsEmpty());   // so are more ranks than units
    EXPECT_THAT(sibling_warnings({{"a", true, {0}, {0}}, {"b", true, {4}, {0}}}), IsEmpty());
}

}  // namespace
}  // namespace dlmb::record
