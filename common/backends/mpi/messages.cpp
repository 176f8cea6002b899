// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/backends/mpi/messages.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cstring>

namespace dlmb::mpi {
namespace {

/// `blocks` without the self block, starting with the peer after `me`.
std::vector<Block> rotated_peers(std::vector<Block> const& blocks, int me) {
    std::vector<Block> peers;
    std::copy_if(blocks.begin(), blocks.end(), std::back_inserter(peers), [me](Block const& b) { return b.peer > me; });
    std::copy_if(blocks.begin(), blocks.end(), std::back_inserter(peers), [me](Block const& b) { return b.peer < me; });
    return peers;
}

StepMessages messages_of_exchange(Exchange const& exchange, CompileContext const& context) {
    int const me = context.me(exchange.group);
    StepMessages step{{},
                      self_copy(exchange, *context.buffers, me, context.queue),
                      context.next_tag(exchange.group),
                      context.comm(exchange.group)};
    for (Block const& block : rotated_peers(exchange.recv, me)) {
        append_messages(context.recv_base(exchange) + block.offset, block.bytes, block.peer, false, context.limits,
                        step.messages);
    }
    for (Block const& block : rotated_peers(exchange.send, me)) {
        append_messages(context.send_base(exchange) + block.offset, block.bytes, block.peer, true, context.limits,
                        step.messages);
    }
    return step;
}

// On the world's communicator: a pair of ranks matches its messages by channel, whichever group they name. An empty
// message is sent, too.
StepMessages message_of(GroupId group, BufferId buffer, Block const& block, int channel, bool outgoing,
                        CompileContext const& context) {
    Rank const peer = context.group(group).members.at(static_cast<std::size_t>(block.peer));
    std::byte* const data = context.buffers->base[buffer] + block.offset;
    StepMessages step{{}, {}, channel, context.communicators.world()};
    append_messages(data, block.bytes, peer, outgoing, context.limits, step.messages);
    if (step.messages.empty()) {
        step.messages.push_back({data, 0, peer, outgoing});
    }
    return step;
}

}  // namespace

SelfCopy::SelfCopy(std::byte* to, std::byte const* from, Bytes bytes, DeviceQueue const* queue)
    : to_(to), from_(from), bytes_(bytes), queue_(queue) {
    if (queue != nullptr && bytes > 0) {
        done_.emplace();
    }
}

void SelfCopy::start() {
    if (bytes_ == 0) {
        return;
    }
    if (queue_ == nullptr) {
        std::memmove(to_, from_, bytes_);
    } else {
        queue_->copy(to_, from_, bytes_);
        done_->record(*queue_);
    }
}

StepMessages messages_of(Operation const& operation, CompileContext const& context) {
    if (auto const* send = std::get_if<Send>(&operation)) {
        return message_of(send->group, send->buffer, send->to, send->channel, true, context);
    }
    if (auto const* recv = std::get_if<Recv>(&operation)) {
        return message_of(recv->group, recv->buffer, recv->from, recv->channel, false, context);
    }
    return messages_of_exchange(std::get<Exchange>(operation), context);
}

void append_messages(std::byte* data, Bytes bytes, int peer, bool outgoing, Limits const& limits,
                     std::vector<Message>& messages) {
    for (Bytes offset = 0; offset < bytes; offset += limits.chunk_bytes) {
        Bytes const chunk = std::min(limits.chunk_bytes, bytes - offset);
        messages.push_back({data + offset, static_cast<int>(chunk), peer, outgoing});
    }
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

void post(Message const& message, int tag, MPI_Comm comm, MPI_Request& request) {
    if (message.outgoing) {
        check(MPI_Isend(message.data, message.bytes, MPI_BYTE, message.peer, tag, comm, &request), "MPI_Isend");
    } else {
        check(MPI_Irecv(message.data, message.bytes, MPI_BYTE, message.peer, tag, comm, &request), "MPI_Irecv");
    }
}

std::string channel_refusal(Operation const& operation, Plan const& /*plan*/, Limits const& limits) {
    auto const* send = std::get_if<Send>(&operation);
    auto const* recv = std::get_if<Recv>(&operation);
    int const channel = send != nullptr ? send->channel : recv != nullptr ? recv->channel : 0;
    bool const fits = channel >= 0 && channel < limits.channels;
    return fits ? "" : fmt::format("channel {} is not among the {} tags of this MPI library", channel, limits.channels);
}

}  // namespace dlmb::mpi
