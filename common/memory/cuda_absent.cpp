// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/memory/cuda_memory.hpp"

#include <fmt/core.h>

namespace dlmb {

std::unique_ptr<MemorySpace> make_cuda_memory_space(MemoryKind kind, int /*local_rank*/, std::string& why_not) {
    why_not = fmt::format("{} memory: not in this build; configure with -DDLMB_WITH_CUDA=ON", name_of(kind));
    return nullptr;
}

}  // namespace dlmb
