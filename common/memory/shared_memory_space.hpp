// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// How much memory the processes of a node can share: containers often have 64 MiB.
#pragma once

#include "common/base/units.hpp"

#include <filesystem>
#include <optional>

namespace dlmb {

/// The size of /dev/shm, from which the processes of a node take shared memory.
struct SharedMemorySpace {
    Bytes all = 0;
    Bytes free = 0;
};
/// nullopt: there is no such folder.
[[nodiscard]] std::optional<SharedMemorySpace> shared_memory_space(std::filesystem::path const& root = "/");

}  // namespace dlmb
