// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Prepared NCCL calls: communicators, addresses and counts, ready to be enqueued.
#pragma once

#include "common/plan/plan.hpp"

#include <nccl.h>

#include <cstddef>
#include <variant>
#include <vector>

namespace dlmb::nccl {

struct Transfer {
    std::byte* data;
    std::size_t bytes;
    int peer;
};

/// Ragged exchange, or sends and receives that are posted together: one group of point-to-point calls.
struct GroupedCall {
    ncclComm_t communicator;
    std::vector<Transfer> sends, receives;
};
struct AllToAllCall {
    ncclComm_t communicator;
    std::byte const* send;
    std::byte* recv;
    std::size_t bytes_per_peer;
};
struct AllGatherCall {
    ncclComm_t communicator;
    std::byte const* send;
    std::byte* recv;
    std::size_t bytes_per_rank;
};
struct BroadcastCall {
    ncclComm_t communicator;
    std::byte* data;
    std::size_t bytes;
    int root;
};
struct AllReduceCall {
    ncclComm_t communicator;
    std::byte const* send;
    std::byte* recv;
    std::size_t count;
    ncclDataType_t type;
    ncclRedOp_t operation;
};
/// `count`: elements of one rank's share.
struct ReduceScatterCall {
    ncclComm_t communicator;
    std::byte const* send;
    std::byte* recv;
    std::size_t count;
    ncclDataType_t type;
    ncclRedOp_t operation;
};

struct NativeCall {
    std::vector<StepId> steps;  // complete together
    std::variant<GroupedCall, AllToAllCall, AllGatherCall, BroadcastCall, AllReduceCall, ReduceScatterCall> call;
};

}  // namespace dlmb::nccl
