// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/app/launch_context.hpp"

#include "common/backend_kit/registry.hpp"

#include <fmt/core.h>

namespace dlmb::app {

std::unique_ptr<MemorySpace> memory_on_all_ranks(Bootstrap& bootstrap, MemoryKind kind, std::string& why_not) {
    std::unique_ptr<MemorySpace> space = make_memory(kind, why_not);
    std::vector<std::int64_t> have{space == nullptr ? 0 : 1};
    bootstrap.all_reduce(have, Fold::min);
    if (have[0] == 0 && space != nullptr) {
        why_not = fmt::format("another rank has no {} memory", name_of(kind));
    }
    return have[0] == 0 ? nullptr : std::move(space);
}

}  // namespace dlmb::app
