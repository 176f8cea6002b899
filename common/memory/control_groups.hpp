// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// The limits that the control groups of this process set, of version 1 and 2: its own group and those above it, as far
// as they can be seen from where it runs. `root` lets a test give a tree of its own.
#pragma once

#include "common/base/units.hpp"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace dlmb {

/// The number behind `key` in a file of lines "key number", as of proc_meminfo(5).
[[nodiscard]] std::optional<Bytes> number_behind(std::filesystem::path const& path, std::string_view key);

/// Folders of the groups whose files of `controller` ("cpu", "memory", "cpuset") limit this process, the outermost
/// first: those of version 2, then those of version 1.
[[nodiscard]] std::vector<std::filesystem::path> control_groups(std::string_view controller,
                                                                std::filesystem::path const& root = "/");

/// Bytes left of the tightest memory limit, page cache that can be dropped included; nullopt: there is no limit.
[[nodiscard]] std::optional<Bytes> left_in_control_groups(std::filesystem::path const& root = "/");

/// Processors that the tightest quota allows, 1.5 for 150 ms in periods of 100 ms; nullopt: there is no quota.
[[nodiscard]] std::optional<double> cpu_quota(std::filesystem::path const& root = "/");

}  // namespace dlmb
