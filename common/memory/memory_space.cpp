// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/memory/memory_space.hpp"

#include "common/memory/cuda_memory.hpp"
#include "common/memory/host_space.hpp"

#include <array>

namespace dlmb {

std::string_view name_of(MemoryKind kind) {
    constexpr std::array<std::string_view, every_memory_kind.size()> names{"host", "pinned", "cuda", "managed", "nccl"};
    return names.at(static_cast<std::size_t>(kind));
}

std::unique_ptr<MemorySpace> make_memory_space(MemoryKind kind, std::string& why_not) {
    if (kind == MemoryKind::host) {
        return std::make_unique<HostSpace>();
    }
    return make_cuda_memory_space(kind, why_not);
}

}  // namespace dlmb
