// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// The blocks of an exchange as native messages: what the point-to-point methods post.
#pragma once

#include "common/backend_kit/backend.hpp"
#include "common/backends/mpi/limits.hpp"
#include "common/backends/mpi/self_copy.hpp"

#include <vector>

namespace dlmb::mpi {

/// At most Limits::chunk_bytes. Chunks of one block share peer and tag: MPI delivers them in posting order.
struct Message {
    std::byte* data = nullptr;
    int bytes = 0;
    int peer = 0;  // rank in the communicator it is posted on
    bool outgoing = false;
};

/// The messages of one block; none for an empty one.
void append_messages(std::byte* data, Bytes bytes, int peer, bool outgoing, Limits const& limits,
                     std::vector<Message>& messages);

/// `blocks` without the self block, starting with the peer after `me`: no rank is everybody's first target.
[[nodiscard]] std::vector<Block> rotated_peers(std::vector<Block> const& blocks, int me);

/// `queue`: of the device that the buffers are on; nullptr for host memory.
[[nodiscard]] SelfCopy self_copy(Exchange const& exchange, Buffers const& buffers, int me, DeviceQueue const* queue);

}  // namespace dlmb::mpi
