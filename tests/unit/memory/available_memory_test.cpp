// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/memory/host_space.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <string>
#include <unistd.h>

namespace dlmb {
namespace {

namespace fs = std::filesystem;

constexpr Bytes gib = Bytes{1} << 30;

/// A folder that stands for "/", with the files that a test writes into it.
class AvailableMemory : public ::testing::Test {
protected:
    AvailableMemory() {
        fs::remove_all(root_);
        write("proc/meminfo", "MemTotal:  16777216 kB\nMemFree:  1024 kB\nMemAvailable:    8388608 kB\n");
        write("proc/self/cgroup", "1:name=systemd:/\n0::/jobs/job_7\n");
    }
    void TearDown() override { fs::remove_all(root_); }

    void write(std::string const& file, std::string const& text) const {
        fs::create_directories((root_ / file).parent_path());
        std::ofstream(root_ / file) << text;
    }
    void limit(std::string const& group, std::string const& most, Bytes used) const {
        write("sys/fs/cgroup/" + group + "memory.max", most + "\n");
        write("sys/fs/cgroup/" + group + "memory.current", std::to_string(used) + "\n");
    }

    fs::path root_ = fs::path(::testing::TempDir()) / ("dlmb_available_memory_" + std::to_string(::getpid()));
};

TEST_F(AvailableMemory, IsWhatTheKernelEstimatesAndNotOnlyWhatIsUnused) {
    EXPECT_EQ(available_host_memory(root_), 8 * gib);
}

TEST_F(AvailableMemory, IsBoundByTheLimitOfAnyGroupAbove) {
    limit("jobs/", std::to_string(4 * gib), gib);
    limit("jobs/job_7/", "max", gib);
    EXPECT_EQ(available_host_memory(root_), 3 * gib);
    limit("jobs/job_7/", std::to_string(2 * gib), gib);
    EXPECT_EQ(available_host_memory(root_), gib);
}

TEST_F(AvailableMemory, PageCacheOfTheGroupCanBeDropped) {
    limit("jobs/job_7/", std::to_string(4 * gib), 3 * gib);
    write("sys/fs/cgroup/jobs/job_7/memory.stat", "anon 1\ninactive_file " + std::to_string(2 * gib) + "\nslab 5\n");
    EXPECT_EQ(available_host_memory(root_), 3 * gib);
}

TEST_F(AvailableMemory, IsUnknownWithoutTheFiles) {
    fs::remove_all(root_);
    EXPECT_EQ(available_host_memory(root_), 0U);
}

}  // namespace
}  // namespace dlmb
