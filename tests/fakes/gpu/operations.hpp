// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// NCCL's operations as messages.
#pragma once

#include "tests/fakes/gpu/transfers.hpp"

#include <optional>

namespace dlmb::fake_gpu {

enum class Direction : std::uint8_t { none, send, receive };

/// The arguments of one call. `count` is the one that the call takes.
struct Operation {
    Call call = Call::none;
    Direction direction = Direction::none;  // of a message
    std::byte const* send = nullptr;
    std::byte* recv = nullptr;
    std::size_t count = 0;
    ncclDataType_t type = ncclUint8;
    ncclRedOp_t reduction = ncclSum;
    int peer = 0;  // root, of a broadcast or reduce
    // Of a put:
    std::uint64_t window = 0;
    std::uint64_t offset = 0;
};

/// Size of an element in bytes; empty: not a type, or one that the double does not know.
[[nodiscard]] std::optional<std::size_t> element_size(ncclDataType_t type);
[[nodiscard]] bool is_known(ncclRedOp_t reduction);

/// Ends the process where the buffers are no device memory, or too small.
void require_buffers(Operation const& operation, int rank, int ranks, char const* call);

/// Appends what `rank` moves for the operation.
void add(Operation const& operation, int rank, int ranks, Transfers& transfers);

}  // namespace dlmb::fake_gpu
