// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// What can be allocated before the kernel's out-of-memory killer ends the launch without a word.
#pragma once

#include "common/base/units.hpp"

#include <filesystem>

namespace dlmb {

/// Bytes that this node, and the control groups (version 2) that this process is in, can still give: the kernel's own
/// estimate (MemAvailable) and what a limit leaves, page cache that can be dropped counted as free. 0: unknown.
/// `root` stands for "/".
[[nodiscard]] Bytes available_host_memory(std::filesystem::path const& root = "/");

}  // namespace dlmb
