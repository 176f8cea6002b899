// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// What on a node makes times move although ranks are placed well: a clock that changes, other work, and two ranks on
// the halves of one core.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace dlmb::record {

/// Of this node, at the begin of the launch. What cannot be read is empty and 0.
struct NodeConditions {
    std::string governor;  // of processing unit 0
    double load = 0;       // mean over the last minute of threads that run or want to
};
[[nodiscard]] NodeConditions read_conditions(std::filesystem::path const& root = "/");

/// The cores that these processing units are threads of, each named by its first thread; ascending, each once. A unit
/// that the system says nothing of is a core of its own.
[[nodiscard]] std::vector<int> cores_of(std::vector<int> const& units, std::filesystem::path const& root = "/");

/// One rank as far as sharing cores matters.
struct CoreUse {
    std::string host;
    bool bound = false;
    std::vector<int> units;
    std::vector<int> cores;
};

/// `ranks_on` and `conditions` by host.
[[nodiscard]] std::vector<std::string> condition_warnings(std::map<std::string, int> const& ranks_on,
                                                          std::map<std::string, NodeConditions> const& conditions);
/// Bound ranks that run on different threads of one core.
[[nodiscard]] std::vector<std::string> sibling_warnings(std::vector<CoreUse> const& ranks);

}  // namespace dlmb::record
