// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Prepared NCCL calls: communicators, addresses and counts, ready to be enqueued.
#pragma once

#include "common/formats/plan/plan.hpp"

#include <nccl.h>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <span>
#include <variant>
#include <vector>

namespace dlmb::nccl {

/// `channel`: that of a message. Blocks of exchanges have none, but for those of all ranks, which share the
/// communicator of the messages. NCCL knows no channels: see translate.hpp.
struct Transfer {
    static constexpr int no_channel = -1;
    static constexpr int of_all_ranks = -2;
    std::byte* data;
    std::size_t bytes;
    int peer;
    int channel = no_channel;
};

/// Ragged exchange, gather, scatter, or sends and receives that are posted together: one group of point-to-point calls.
struct GroupedCall {
    ncclComm_t communicator;
    std::vector<Transfer> sends, receives;
};
/// Exchanges of equal blocks are ncclAlltoAll.
struct CollectiveCall {
    OperationKind kind;
    ncclComm_t communicator;
    std::byte const* send;
    std::byte* recv;
    std::size_t count;  // elements: all of an allreduce, reduce or broadcast, otherwise one rank's share
    ncclDataType_t type = ncclUint8;
    ncclRedOp_t operation = ncclSum;
    int root = 0;
};

/// To a place in the window of the peer, with a signal behind it. Of 0 bytes: the signal alone.
struct SignalledWrite {
    std::byte const* data = nullptr;
    std::size_t bytes = 0;
    int peer = 0;
    void* window = nullptr;  // an ncclWindow_t, which NCCL before 2.27 has not
    std::size_t offset = 0;
};
/// As an ncclWaitSignalDesc_t, which NCCL before 2.29 has not. NCCL counts the signals from each peer, and a wait takes
/// the next `count` of them.
struct AwaitedCount {
    int count = 0;
    int peer = 0;
    int signal_index = 0;  // NCCL 2.29 has one signal and one context
    int context = 0;
};
/// Either of the two. Writes are one group, in which those to a peer keep their order.
struct OneSidedCall {
    ncclComm_t communicator;
    std::vector<SignalledWrite> writes;
    std::vector<AwaitedCount> waits;
};

/// NCCL's collectives take equal parts, named or not.
[[nodiscard]] inline bool are_equal(std::span<Bytes const> shares) {
    return std::adjacent_find(shares.begin(), shares.end(), std::not_equal_to<>()) == shares.end();
}

using Work = std::variant<GroupedCall, CollectiveCall, OneSidedCall, Compute>;

/// Next work of one of the two streams: computations have a stream of their own, everything else shares one.
struct Item {
    std::vector<StepId> steps;  // complete together; none: permissions of one-sided writes
    Work work;
    std::optional<std::size_t> wait = {};  // the item of the other stream that must be complete before this one starts

    [[nodiscard]] bool computes() const { return std::holds_alternative<Compute>(work); }
};

}  // namespace dlmb::nccl
