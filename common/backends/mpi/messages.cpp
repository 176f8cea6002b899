// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/backends/mpi/messages.hpp"

#include <algorithm>

namespace dlmb::mpi {

void append_messages(std::byte* data, Bytes bytes, int peer, bool outgoing, Limits const& limits,
                     std::vector<Message>& messages) {
    for (Bytes offset = 0; offset < bytes; offset += limits.chunk_bytes) {
        Bytes const chunk = std::min(limits.chunk_bytes, bytes - offset);
        messages.push_back({data + offset, static_cast<int>(chunk), peer, outgoing});
    }
}

std::vector<Block> rotated_peers(std::vector<Block> const& blocks, int me) {
    std::vector<Block> peers;
    std::copy_if(blocks.begin(), blocks.end(), std::back_inserter(peers), [me](Block const& b) { return b.peer > me; });
    std::copy_if(blocks.begin(), blocks.end(), std::back_inserter(peers), [me](Block const& b) { return b.peer < me; });
    return peers;
}

SelfCopy self_copy(Exchange const& exchange, Buffers const& buffers, int me, DeviceQueue const* queue) {
    auto const is_self = [me](Block const& block) { return block.peer == me; };
    auto const from = std::find_if(exchange.send.begin(), exchange.send.end(), is_self);
    auto const to = std::find_if(exchange.recv.begin(), exchange.recv.end(), is_self);
    if (from == exchange.send.end() || to == exchange.recv.end()) {
        return {};
    }
    return {buffers.base[exchange.recv_buffer] + to->offset, buffers.base[exchange.send_buffer] + from->offset,
            std::min(from->bytes, to->bytes), queue};
}

}  // namespace dlmb::mpi
