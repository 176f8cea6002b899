// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/memory/shared_memory_space.hpp"

#include <sys/statvfs.h>

namespace dlmb {

std::optional<SharedMemorySpace> shared_memory_space(std::filesystem::path const& root) {
    struct statvfs folder {};
    if (statvfs((root / "dev/shm").c_str(), &folder) != 0) {
        return std::nullopt;
    }
    return SharedMemorySpace{Bytes{folder.f_blocks} * folder.f_frsize, Bytes{folder.f_bavail} * folder.f_frsize};
}

}  // namespace dlmb
