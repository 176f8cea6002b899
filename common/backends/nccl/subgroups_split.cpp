// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// NCCL 2.18 and later.
#include "common/backends/nccl/check.hpp"
#include "common/backends/nccl/communicators.hpp"

namespace dlmb::nccl {

ncclComm_t create_subgroups(Bootstrap& bootstrap, ncclConfig_t config, ncclComm_t world,
                            std::span<Group const> groups) {
    int color = NCCL_SPLIT_NOCOLOR;
    int key = 0;
    for (std::size_t i = 0; i < groups.size(); ++i) {
        if (auto const place = rank_in(groups[i], bootstrap.rank())) {
            color = static_cast<int>(i);
            key = *place;
        }
    }
    ncclComm_t made = nullptr;
    check(ncclCommSplit(world, color, key, &made, &config), "ncclCommSplit");
    wait_until_ready(bootstrap, world, "ncclCommSplit");
    if (made != nullptr) {
        wait_until_ready(bootstrap, made, "ncclCommSplit");
    }
    return made;
}

}  // namespace dlmb::nccl
