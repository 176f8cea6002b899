// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Facts about this node that Linux tells in files. Knows no library and no other rank.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace dlmb::record {

/// `root` lets a test give a tree of its own. A fact that cannot be read is "unknown" here and absent below.
[[nodiscard]] std::string cpu_model(std::filesystem::path const& root = "/");

/// Kernel, memory, frequency governor, load and the settings of the kernel that change communication times.
[[nodiscard]] std::map<std::string, std::string> machine_facts(std::filesystem::path const& root = "/");

/// Processing units that a list such as "0-3,8" names; empty when it is not such a list.
[[nodiscard]] std::vector<int> parse_cpu_list(std::string const& list);
[[nodiscard]] std::string cpu_list(std::vector<int> const& sorted_units);

/// Where the calling thread may run, and the NUMA nodes of these processing units as a list.
struct Affinity {
    std::vector<int> units;
    std::string numa;
};
[[nodiscard]] Affinity read_affinity(std::filesystem::path const& root = "/");

/// The cores that these processing units are threads of, each named by its first thread; ascending, each once. A unit
/// that the system says nothing of is a core of its own.
[[nodiscard]] std::vector<int> cores_of(std::vector<int> const& units, std::filesystem::path const& root = "/");

/// What changes times on a node even where ranks are placed well, at the start of the launch. What cannot be read is
/// empty and 0.
struct NodeConditions {
    std::string governor;  // of processing unit 0
    double load = 0;       // mean over the last minute of threads that run or want to
};
[[nodiscard]] NodeConditions read_conditions(std::filesystem::path const& root = "/");

}  // namespace dlmb::record
