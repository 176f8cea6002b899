// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "tests/fakes/gpu/call_log.hpp"
#include "tests/fakes/gpu/group.hpp"
#include "tests/fakes/gpu/set_up.hpp"
#include "tests/fakes/gpu/settings.hpp"
#include "tests/fakes/gpu/wrong_use.hpp"

#include <nccl.h>

#include <sched.h>
#include <utility>

using namespace dlmb::fake_gpu;

namespace {

bool is_blocking(ncclConfig_t const* config) {
    return config == nullptr || config->blocking != 0;  // undefined: blocking
}

}  // namespace

ncclResult_t ncclGetVersion(int* version) {
    *version = nccl_version();
    return ncclSuccess;
}

ncclResult_t ncclGetUniqueId(ncclUniqueId* id) {
    *id = {};
    new_segment_name().copy(id->internal, sizeof id->internal - 1);
    return ncclSuccess;
}

ncclResult_t ncclCommInitRankConfig(ncclComm_t* comm, int ranks, ncclUniqueId id, int rank, ncclConfig_t* config) {
    hang_where_told("ncclCommInitRankConfig");
    if (ranks < 1 || ranks > Segment::most_ranks || rank < 0 || rank >= ranks || id.internal[0] != '/') {
        return ncclInvalidArgument;
    }
    auto communicator = join(id.internal, ranks, rank, is_blocking(config));
    *comm = add_communicator(communicator);
    return add_to_group(std::move(communicator));
}

ncclResult_t ncclCommInitRank(ncclComm_t* comm, int ranks, ncclUniqueId id, int rank) {
    return ncclCommInitRankConfig(comm, ranks, id, rank, nullptr);
}

/// On a non-blocking parent *newcomm stays null until the parent's state is ncclSuccess.
ncclResult_t ncclCommSplit(ncclComm_t comm, int color, int key, ncclComm_t* newcomm, ncclConfig_t* config) {
    auto parent = communicator_of(comm, "ncclCommSplit");
    if (ncclResult_t const state = parent->ready(); state != ncclSuccess) {
        return state;
    }
    begin_split(parent, color, key, newcomm, config == nullptr ? parent->blocking() : is_blocking(config));
    return add_to_group(std::move(parent));
}

ncclResult_t ncclCommDestroy(ncclComm_t comm) {
    require_no_open_group("ncclCommDestroy");
    if (comm == nullptr) {
        return ncclSuccess;
    }
    auto const communicator = communicator_of(comm, "ncclCommDestroy");
    ncclResult_t const state = communicator->complete();
    while (communicator->unfinished > 0) {
        sched_yield();
    }
    remove_communicator(comm);
    return state;
}

ncclResult_t ncclCommAbort(ncclComm_t comm) {
    if (comm != nullptr) {
        communicator_of(comm, "ncclCommAbort")->abort();
        remove_communicator(comm);
    }
    return ncclSuccess;
}

ncclResult_t ncclCommGetAsyncError(ncclComm_t comm, ncclResult_t* error) {
    note_call("ncclCommGetAsyncError");
    *error = communicator_of(comm, "ncclCommGetAsyncError")->ask();
    return ncclSuccess;
}

char const* ncclGetErrorString(ncclResult_t result) {
    constexpr char const* texts[] = {"no error",
                                     "unhandled cuda error",
                                     "unhandled system error",
                                     "internal error",
                                     "invalid argument",
                                     "invalid usage",
                                     "remote process exited or there was a network error",
                                     "NCCL operation in progress"};
    return result >= 0 && result < ncclNumResults ? texts[result] : "unknown result code";
}

char const* ncclGetLastError(ncclComm_t /*comm*/) {
    return "GPU test double";
}
