// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// What one launch of NCCL moves: messages between pairs of ranks, which progress together, and what is left to do when
// all have arrived.
#pragma once

#include "tests/fakes/gpu/communicator.hpp"
#include "tests/fakes/gpu/inbox.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

namespace dlmb::fake_gpu {

enum class Call : std::uint8_t {
    none,
    message,
    all_reduce,
    reduce_scatter,
    all_gather,
    broadcast,
    all_to_all,
    reduce,
    put,
    wait_signal
};

/// What both ends of a message must agree about.
struct Tag {
    Call call = Call::none;
    std::uint8_t type = 0;       // ncclDataType_t, of collectives
    std::uint8_t reduction = 0;  // ncclRedOp_t
    std::uint8_t root = 0;
};

struct Message {
    int peer = 0;
    std::byte* data = nullptr;  // never written to by a send
    std::size_t bytes = 0;
    Tag tag;
};

/// Bits of the directions in which messages go between two ranks, and the same as the other one sees them.
constexpr std::uint64_t sends_bit = 1, receives_bit = 2;
constexpr std::uint64_t seen_from_there(std::uint64_t directions) {
    return (directions & sends_bit) * receives_bit | (directions & receives_bit) / receives_bit;
}

struct Transfers {
    std::vector<Message> sends, receives;  // per peer in the order in which they match
    std::vector<std::function<void()>> afterwards;
    // Nothing of the above with one of these:
    std::vector<SignalledPut> puts;
    std::vector<AwaitedSignals> waits;
};

/// Moves everything; a send ends when its receiver has taken the last byte. Returns early when the communicator is
/// aborted. A peer that is gone makes the communicator fail, and the wait goes on until it is aborted, as with NCCL.
void run(Communicator& communicator, Transfers const& transfers);

}  // namespace dlmb::fake_gpu
