// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Made-up trees of /proc and /sys: of machines and of containers, of both versions of control groups.
#include "common/measure/environment/cpu_quota.hpp"
#include "common/memory/control_groups.hpp"
#include "common/memory/host_space.hpp"
#include "tests/unit/record/temporary_folder.hpp"

#include <gtest/gtest.h>

#include <string>

namespace dlmb {
namespace {

namespace fs = std::filesystem;

constexpr Bytes gib = Bytes{1} << 30;

class ControlGroups : public ::testing::Test {
protected:
    void write(std::string const& file, std::string const& text) const { record::write_file(root_ / file, text); }
    /// Of version 2.
    void limit(std::string const& group, std::string const& most, Bytes used) const {
        write("sys/fs/cgroup/" + group + "memory.max", most + "\n");
        write("sys/fs/cgroup/" + group + "memory.current", std::to_string(used) + "\n");
    }
    [[nodiscard]] std::vector<std::string> groups(std::string_view controller) const {
        std::vector<std::string> names;
        for (fs::path const& group : control_groups(controller, root_)) {
            names.push_back(fs::relative(group, root_).string());
        }
        return names;
    }

    record::TemporaryFolder const folder_;
    fs::path const root_ = folder_ / "";
};

using Names = std::vector<std::string>;

TEST_F(ControlGroups, OfVersion2AreTheOwnOneAndThoseAbove) {
    write("proc/self/cgroup", "0::/jobs/7\n");
    write("proc/self/mountinfo", "30 23 0:26 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw\n");
    write("sys/fs/cgroup/jobs/7/cpu.max", "150000 100000\n");
    EXPECT_EQ(groups("cpu"), (Names{"sys/fs/cgroup", "sys/fs/cgroup/jobs", "sys/fs/cgroup/jobs/7"}));
    EXPECT_EQ(cpu_quota(root_), 1.5);
    write("sys/fs/cgroup/jobs/cpu.max", "50000 100000\n");
    EXPECT_EQ(cpu_quota(root_), 0.5);
    write("sys/fs/cgroup/jobs/cpu.max", "max 100000\n");
    write("sys/fs/cgroup/jobs/7/cpu.max", "max 100000\n");
    EXPECT_EQ(cpu_quota(root_), std::nullopt);
}

TEST_F(ControlGroups, OfVersion1AreBelowTheMountOfTheController) {
    write("proc/self/cgroup", "5:memory:/other\n4:cpu,cpuacct:/jobs/7\n1:name=systemd:/\n");
    write("proc/self/mountinfo", "31 23 0:27 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n");
    write("sys/fs/cgroup/cpu,cpuacct/jobs/7/cpu.cfs_quota_us", "25000\n");
    write("sys/fs/cgroup/cpu,cpuacct/jobs/7/cpu.cfs_period_us", "100000\n");
    EXPECT_EQ(groups("cpu"), (Names{"sys/fs/cgroup/cpu,cpuacct", "sys/fs/cgroup/cpu,cpuacct/jobs",
                                    "sys/fs/cgroup/cpu,cpuacct/jobs/7"}));
    EXPECT_EQ(cpu_quota(root_), 0.25);
    write("sys/fs/cgroup/cpu,cpuacct/jobs/7/cpu.cfs_quota_us", "-1\n");
    EXPECT_EQ(cpu_quota(root_), std::nullopt);
}

TEST_F(ControlGroups, OfAContainerAreWhereItsOwnGroupIsMounted) {
    write("proc/self/cgroup", "4:cpu:/docker/0a1b/sub\n");  // as the machine names it
    write("proc/self/mountinfo", "31 23 0:27 /docker/0a1b /sys/fs/cgroup/cpu ro - cgroup cgroup rw,cpu\n");
    write("sys/fs/cgroup/cpu/sub/cpu.stat", "nr_periods 0\n");
    EXPECT_EQ(groups("cpu"), (Names{"sys/fs/cgroup/cpu", "sys/fs/cgroup/cpu/sub"}));
    write("proc/self/cgroup", "4:cpu:/\n");  // as it is seen in a namespace of its own
    EXPECT_EQ(groups("cpu"), Names{"sys/fs/cgroup/cpu"});
}

TEST_F(ControlGroups, BoundTheMemoryThatTheKernelDeemsAvailable) {
    EXPECT_EQ(available_host_memory(root_), 0U) << "nobody says";
    write("proc/meminfo", "MemTotal:  16777216 kB\nMemFree:  1024 kB\nMemAvailable:    8388608 kB\n");
    write("proc/self/cgroup", "1:name=systemd:/\n0::/jobs/job_7\n");
    EXPECT_EQ(available_host_memory(root_), 8 * gib);
    limit("jobs/", std::to_string(4 * gib), gib);
    limit("jobs/job_7/", "max", gib);
    EXPECT_EQ(available_host_memory(root_), 3 * gib);
    limit("jobs/job_7/", std::to_string(2 * gib), gib);
    EXPECT_EQ(available_host_memory(root_), gib);
    limit("jobs/job_7/", std::to_string(3 * gib), 2 * gib);
    write("sys/fs/cgroup/jobs/job_7/memory.stat", "anon 1\ninactive_file " + std::to_string(gib) + "\nslab 5\n");
    EXPECT_EQ(available_host_memory(root_), 2 * gib) << "page cache can be dropped";
}

TEST_F(ControlGroups, MemoryLimitsOfBothVersionsCount) {
    constexpr Bytes mib = Bytes{1} << 20U;
    write("proc/self/cgroup", "4:memory:/jobs\n0::/\n");
    write("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");  // none
    write("sys/fs/cgroup/memory/memory.usage_in_bytes", "123\n");
    EXPECT_EQ(left_in_control_groups(root_), std::nullopt);
    write("sys/fs/cgroup/memory/jobs/memory.limit_in_bytes", std::to_string(1024 * mib) + "\n");
    write("sys/fs/cgroup/memory/jobs/memory.usage_in_bytes", std::to_string(1000 * mib) + "\n");
    write("sys/fs/cgroup/memory/jobs/memory.stat", "cache 7\ntotal_inactive_file " + std::to_string(76 * mib) + "\n");
    EXPECT_EQ(left_in_control_groups(root_), 100 * mib);
    limit("", std::to_string(64 * mib), 60 * mib);
    EXPECT_EQ(left_in_control_groups(root_), 4 * mib);
}

TEST_F(ControlGroups, QuotaReaderAddsUpWhatBothVersionsSay) {
    write("proc/self/cgroup", "4:cpu:/jobs\n0::/slice\n");
    EXPECT_EQ(measure::QuotaReader(root_).read(), std::nullopt);
    write("sys/fs/cgroup/cpu/jobs/cpu.stat", "nr_periods 10\nnr_throttled 3\nthrottled_time 5000000\n");
    write("sys/fs/cgroup/slice/cpu.stat",
          "usage_usec 77\nuser_usec 70\nnr_periods 5\nnr_throttled 2\nthrottled_usec 1500\nnr_bursts 0\n");
    measure::QuotaReader const reader(root_);
    EXPECT_EQ(reader.read(), (record::QuotaUse{15, 5, 6'500'000}));
    write("sys/fs/cgroup/slice/cpu.stat", "nr_periods 6\nnr_throttled 3\nthrottled_usec 2500\n");
    EXPECT_EQ(reader.read(), (record::QuotaUse{16, 6, 7'500'000}));
}

TEST_F(ControlGroups, ATreeThatIsNotThereLimitsNothing) {
    EXPECT_EQ(groups("cpu"), Names{});
    EXPECT_EQ(cpu_quota(root_), std::nullopt);
    EXPECT_EQ(left_in_control_groups(root_), std::nullopt);
    EXPECT_EQ(measure::QuotaReader(root_).read(), std::nullopt);
}

}  // namespace
}  // namespace dlmb
