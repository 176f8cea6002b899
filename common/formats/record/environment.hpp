// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// On what a launch ran: enough to say whether two launches may be compared, and nothing that should not be in a file
// that is passed on.
#pragma once

#include "common/base/units.hpp"

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace dlmb::record {

/// The GPU of one rank.
struct RankDevice {
    int index = 0;  // as CUDA counts them in that process
    std::string pci_bus_id;
    int numa_node = -1;            // -1: the system does not say
    bool other_numa_node = false;  // the rank may run on none of that node's processing units
    std::string reason;            // why this one
    bool operator==(RankDevice const&) const = default;
};

/// Where one rank runs. `cpuset` and `numa` are lists as Linux prints them: "0-3,8".
struct RankPlace {
    Rank rank = 0;
    std::string host;
    std::string cpuset;
    std::string numa;
    bool bound = false;  // may use fewer processing units than its node offers this launch
    std::optional<RankDevice> device = std::nullopt;
    std::optional<int> node = std::nullopt;  // ranks that can share memory; absent in files of before
    bool operator==(RankPlace const&) const = default;
};

struct Environment {
    std::map<std::string, std::string> identity;       // must agree for two launches to be compared
    std::map<std::string, std::string> informational;  // explains a difference, never forbids a comparison
    std::map<std::string, std::string> variables;      // of rank 0
    std::vector<RankPlace> ranks;
    Bytes largest_cache = 0;            // of a processor, on any node; 0: the system does not say
    std::vector<std::string> warnings;  // what makes these numbers less than they could be
    std::string env_key;                // environment_key(identity)
    bool operator==(Environment const&) const = default;
};

/// The names of devices of a test double of the CUDA runtime begin so. It takes host memory for device memory: the
/// logic is the same, and times mean nothing.
inline constexpr std::string_view test_double_prefix = "DLMB test double";
inline constexpr std::string_view test_double_warning =
    "the GPUs are a test double of the CUDA runtime: no time of this launch is a measurement";
[[nodiscard]] bool on_test_double(Environment const& environment);

/// 16 hex digits, the same on every platform for equal identities.
[[nodiscard]] std::string environment_key(std::map<std::string, std::string> const& identity);

}  // namespace dlmb::record
