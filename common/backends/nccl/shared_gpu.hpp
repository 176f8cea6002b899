// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Several ranks on one GPU. NCCL refuses two ranks with the same host hash and PCI bus id; with a host id of its own a
// rank passes for a node of its own and is reached through sockets. That shows whether results are right and nothing
// about time.
#pragma once

#include "common/base/units.hpp"

#include <string>
#include <utility>
#include <vector>

namespace dlmb::nccl {

/// Environment variables of NCCL, as name and value.
using EnvironmentSettings = std::vector<std::pair<std::string, std::string>>;

/// The first is what makes it work and always set; the others keep
/// NCCL from taking ways that need a GPU of one's own, and what the user has set wins.
[[nodiscard]] EnvironmentSettings shared_gpu_settings(Rank rank, bool one_host);

/// Before the first call of NCCL in this process: it reads them once. Throws Error.
void apply(EnvironmentSettings const& settings);

}  // namespace dlmb::nccl
