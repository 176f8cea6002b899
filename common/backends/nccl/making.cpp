// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/backends/nccl/making.hpp"

#include "common/backends/nccl/check.hpp"
#include "common/backends/nccl/group_list.hpp"

#include <sched.h>

namespace dlmb::nccl {

ncclUniqueId new_id() {
    ncclUniqueId id{};
    check(ncclGetUniqueId(&id), "ncclGetUniqueId");
    return id;
}

ncclConfig_t configuration() {
    ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
    config.blocking = 0;
    return config;
}

/// A non-blocking communicator answers ncclInProgress until it is usable.
void wait_until_ready(Bootstrap& bootstrap, ncclComm_t communicator, char const* call) {
    ncclResult_t state = ncclInProgress;
    while (state == ncclInProgress) {
        check(ncclCommGetAsyncError(communicator, &state), "ncclCommGetAsyncError");
        bootstrap.progress();
        sched_yield();
    }
    check(state, call);
}

ncclComm_t make_from_id(Bootstrap& bootstrap, ncclUniqueId const& id, Group const& group) {
    ncclConfig_t config = configuration();
    ncclComm_t communicator = nullptr;
    check(ncclCommInitRankConfig(&communicator, static_cast<int>(group.members.size()), id,
                                 static_cast<int>(place_of(bootstrap.rank(), group)), &config),
          "ncclCommInitRankConfig");
    wait_until_ready(bootstrap, communicator, "ncclCommInitRankConfig");
    return communicator;
}

}  // namespace dlmb::nccl
