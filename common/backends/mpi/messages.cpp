// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Also method isend_irecv: every receive is posted, then every send, then one wait for all. It does plain Send and Recv
// steps, and exchanges whose counts no other call of an MPI-3 library can express.
#include "common/backends/mpi/messages.hpp"

#include <algorithm>
#include <cstring>

namespace dlmb::mpi {
namespace {

StepMessages messages_of_exchange(Exchange const& exchange, CompileContext const& context) {
    int const me = context.me(exchange.group);
    StepMessages step{{},
                      {exchange, *context.buffers, me, context.self_copy_queue()},
                      context.next_tag(context.comm(exchange.group)),
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
StepMessages messages_of_window(auto const& step, Block const& block, bool outgoing, CompileContext const& context) {
    Rank const peer = context.group(step.group).members.at(static_cast<std::size_t>(block.peer));
    std::byte* data = context.buffers->base[step.buffer] + block.offset;
    StepMessages native{{}, {}, step.channel, context.communicators.world()};
    for (Bytes message = 0; message < step.window.messages; ++message, data += step.window.stride) {
        if (block.bytes == 0) {
            native.messages.push_back({data, 0, peer, outgoing});
        }
        append_messages(data, block.bytes, peer, outgoing, context.limits, native.messages);
    }
    return native;
}

class IsendIrecv {
public:
    explicit IsendIrecv(StepMessages step)
        : step_(std::move(step)), requests_(step_.messages.size(), MPI_REQUEST_NULL) {}
    void start() {
        for (std::size_t i = 0; i < step_.messages.size(); ++i) {
            post(step_.messages[i], step_.tag, step_.comm, requests_[i]);
        }
        step_.self.start();
    }
    void wait() {
        wait_all(requests_);
        step_.self.wait();
    }
    [[nodiscard]] bool test() { return test_all(requests_) && step_.self.test(); }

private:
    StepMessages step_;
    std::vector<MPI_Request> requests_;
};

/// A message, in chunks where it is longer than a call can say.
struct SendOrRecv {
    void start() const {
        for (NativeMessage const& each : step.messages) {
            if (each.outgoing) {
                check(MPI_Send(each.data, each.bytes, MPI_BYTE, each.peer, step.tag, step.comm), "MPI_Send");
            } else {
                check(MPI_Recv(each.data, each.bytes, MPI_BYTE, each.peer, step.tag, step.comm, MPI_STATUS_IGNORE),
                      "MPI_Recv");
            }
        }
    }

    StepMessages step;
};

PreparedCall compile_isend_irecv(Operation const& operation, CompileContext const& context) {
    return PreparedCall(IsendIrecv(messages_of(operation, context)));
}

bool is_window(Operation const& operation) {
    auto const* send = std::get_if<Send>(&operation);
    return (send != nullptr ? send->window : std::get<Recv>(operation).window).messages > 1;
}

}  // namespace

MemoryCopy self_copy(Exchange const& exchange, int me, std::byte const* send, std::byte* recv) {
    auto const is_self = [me](Block const& block) { return block.peer == me; };
    auto const from = std::find_if(exchange.send.begin(), exchange.send.end(), is_self);
    auto const to = std::find_if(exchange.recv.begin(), exchange.recv.end(), is_self);
    bool const stays = from != exchange.send.end() && to != exchange.recv.end();
    return stays ? MemoryCopy{recv + to->offset, send + from->offset, std::min(from->bytes, to->bytes)} : MemoryCopy{};
}

SelfCopy::SelfCopy(Exchange const& exchange, Buffers const& buffers, int me, DeviceQueue const* queue)
    : copy_(self_copy(exchange, me, buffers.base[exchange.send_buffer], buffers.base[exchange.recv_buffer])),
      queue_(queue) {
    if (queue != nullptr && copy_.bytes > 0) {
        done_.emplace();
    }
}

void SelfCopy::start() {
    if (copy_.bytes == 0) {
        return;
    }
    if (queue_ == nullptr) {
        std::memmove(copy_.to, copy_.from, copy_.bytes);
    } else {
        queue_->copy(copy_.to, copy_.from, copy_.bytes);
        done_->record(*queue_);
    }
}

std::vector<Block> rotated_peers(std::vector<Block> const& blocks, int me) {
    std::vector<Block> peers;
    std::copy_if(blocks.begin(), blocks.end(), std::back_inserter(peers), [me](Block const& b) { return b.peer > me; });
    std::copy_if(blocks.begin(), blocks.end(), std::back_inserter(peers), [me](Block const& b) { return b.peer < me; });
    return peers;
}

StepMessages messages_of(Operation const& operation, CompileContext const& context) {
    if (auto const* send = std::get_if<Send>(&operation)) {
        return messages_of_window(*send, send->to, true, context);
    }
    if (auto const* recv = std::get_if<Recv>(&operation)) {
        return messages_of_window(*recv, recv->from, false, context);
    }
    return messages_of_exchange(std::get<Exchange>(operation), context);
}

PreparedCall compile_blocking_message(Operation const& operation, CompileContext const& context) {
    return context.concurrent || is_window(operation) ? compile_isend_irecv(operation, context)
                                                      : PreparedCall(SendOrRecv{messages_of(operation, context)});
}

void append_messages(std::byte* data, Bytes bytes, int peer, bool outgoing, CallLimits const& limits,
                     std::vector<NativeMessage>& messages) {
    for (Bytes offset = 0; offset < bytes; offset += limits.chunk_bytes) {
        Bytes const chunk = std::min(limits.chunk_bytes, bytes - offset);
        messages.push_back({data + offset, static_cast<int>(chunk), peer, outgoing});
    }
}

void post(NativeMessage const& message, int tag, MPI_Comm comm, MPI_Request& request) {
    if (message.outgoing) {
        check(MPI_Isend(message.data, message.bytes, MPI_BYTE, message.peer, tag, comm, &request), "MPI_Isend");
    } else {
        check(MPI_Irecv(message.data, message.bytes, MPI_BYTE, message.peer, tag, comm, &request), "MPI_Irecv");
    }
}

Method isend_irecv() {
    return {.info = {"isend_irecv",
                     "MPI_Irecv from and MPI_Isend to every peer, one MPI_Waitall",
                     {OperationKind::exchange, OperationKind::send, OperationKind::recv}},
            .compile = compile_isend_irecv};
}

}  // namespace dlmb::mpi
