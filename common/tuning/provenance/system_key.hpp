// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Which system a launch ran on, as a table and its readers compare it.
#pragma once

#include <map>
#include <string>

namespace dlmb::tuning {

/// Of a launch's environment.identity: its key without the shape of the launch (ranks, nodes, ranks per node), because
/// one table holds rules for several. 16 hex digits, the same on every platform.
[[nodiscard]] std::string system_key(std::map<std::string, std::string> identity);

}  // namespace dlmb::tuning
