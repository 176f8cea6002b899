// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/measure/environment/machine.hpp"
#include "tests/unit/record/temporary_folder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace dlmb::measure {
namespace {

TEST(CpuList, ReadsTheListsThatLinuxPrints) {
    EXPECT_EQ(parse_cpu_list("0-3,8"), (std::vector<int>{0, 1, 2, 3, 8}));
    EXPECT_EQ(parse_cpu_list("5"), std::vector<int>{5});
    EXPECT_TRUE(parse_cpu_list("").empty());
}

TEST(CpuList, RefusesAnythingElse) {
    for (char const* text : {"a", "0-", "3-1", "1,,2", "-1", "1 2", "0-3;8", "0-2147483647"}) {
        EXPECT_TRUE(parse_cpu_list(text).empty()) << text;
    }
}

TEST(CpuList, PrintsWhatItRead) {
    for (char const* text : {"0", "0-3,8", "1,3,5-7", "0-127"}) {
        EXPECT_EQ(cpu_list(parse_cpu_list(text)), text);
    }
}

TEST(Machine, ReadsTheModelOfX86AndOfArmKernels) {
    record::TemporaryFolder const root;
    EXPECT_EQ(cpu_model(root / ""), "unknown");
    record::write_file(root / "proc/cpuinfo", "processor\t: 0\nmodel\t\t: 1\nmodel name\t: Some CPU @ 2 GHz\n");
    EXPECT_EQ(cpu_model(root / ""), "Some CPU @ 2 GHz");
    record::write_file(root / "proc/cpuinfo", "processor\t: 0\nCPU implementer\t: 0x41\nCPU part\t: 0xd40\n");
    EXPECT_EQ(cpu_model(root / ""), "implementer 0x41 part 0xd40");
}

TEST(Machine, LeavesOutFactsThatThisKernelDoesNotTell) {
    record::TemporaryFolder const root;
    record::write_file(root / "proc/meminfo", "MemTotal:       1024 kB\nMemFree: 7 kB\n");
    record::write_file(root / "proc/sys/kernel/osrelease", "6.1.0-test\n");
    auto const facts = machine_facts(root / "");
    EXPECT_EQ(facts.at("memory"), "1024 kB");
    EXPECT_EQ(facts.at("kernel"), "6.1.0-test");
    EXPECT_EQ(facts.count("governor"), 0U);
}

TEST(Machine, NamesNetworkCardsWithTheirFirmwareAndRate) {
    record::TemporaryFolder const root;
    record::write_file(root / "sys/class/infiniband/mlx5_1/hca_type", "MT4129\n");
    record::write_file(root / "sys/class/infiniband/mlx5_1/fw_ver", "28.39.1002\n");
    record::write_file(root / "sys/class/infiniband/mlx5_1/ports/1/rate", "400 Gb/sec (4X NDR)\n");
    record::write_file(root / "sys/class/infiniband/mlx5_0/fw_ver", "28.39.1002\n");
    auto const facts = machine_facts(root / "");
    EXPECT_EQ(facts.at("network"), "mlx5_0 (28.39.1002); mlx5_1 (MT4129, 28.39.1002, 400 Gb/sec (4X NDR))");
    EXPECT_EQ(machine_facts(root / "none").count("network"), 0U);
}

TEST(Machine, NamesTheNumaNodesOfTheUnitsThatMayBeUsed) {
    record::TemporaryFolder const root;
    std::string const mine = cpu_list(read_affinity().units);
    record::write_file(root / "sys/devices/system/node/node0/cpulist", "100000\n");
    record::write_file(root / "sys/devices/system/node/node1/cpulist", mine + "\n");
    record::write_file(root / "sys/devices/system/node/node10/cpulist", mine + "\n");
    record::write_file(root / "sys/devices/system/node/online", "0-1,10\n");
    EXPECT_EQ(read_affinity(root / "").numa, "1,10");
    EXPECT_EQ(read_affinity(root / "none").numa, "");
}

TEST(NodeConditions, AreWhatLinuxTells) {
    record::TemporaryFolder const folder;
    record::write_file(folder / "proc/loadavg", "3.25 1.00 0.50 2/345 678\n");
    record::write_file(folder / "sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "powersave\n");
    NodeConditions const conditions = read_conditions(folder / "");
    EXPECT_EQ(conditions.governor, "powersave");
    EXPECT_EQ(conditions.load, 3.25);
    NodeConditions const unknown = read_conditions(folder / "nowhere");
    EXPECT_EQ(unknown.governor, "");
    EXPECT_EQ(unknown.load, 0);
}

TEST(NodeConditions, ThreadsOfOneCoreAreOneCore) {
    record::TemporaryFolder const folder;
    for (int const unit : {0, 4}) {
        record::write_file(
            folder / ("sys/devices/system/cpu/cpu" + std::to_string(unit)) / "topology/thread_siblings_list", "0,4\n");
    }
    EXPECT_THAT(cores_of({0, 4, 7}, folder / ""), ::testing::ElementsAre(0, 7));
}

}  // namespace
}  // namespace dlmb::measure
