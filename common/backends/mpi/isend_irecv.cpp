// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/backends/mpi/isend_irecv.hpp"

#include "common/bootstrap/mpi/mpi_check.hpp"

namespace dlmb::mpi {

IsendIrecv::IsendIrecv(std::vector<Message> messages, SelfCopy copy, int tag, MPI_Comm comm)
    : messages_(std::move(messages)), requests_(messages_.size(), MPI_REQUEST_NULL), copy_(std::move(copy)), tag_(tag),
      comm_(comm) {}

void IsendIrecv::wait() {
    check(MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE), "MPI_Waitall");
    copy_.wait();
}

void IsendIrecv::start() {
    for (std::size_t i = 0; i < messages_.size(); ++i) {
        post(messages_[i], tag_, comm_, requests_[i]);
    }
    copy_.start();
}

bool IsendIrecv::test() {
    int done = 0;
    check(MPI_Testall(static_cast<int>(requests_.size()), requests_.data(), &done, MPI_STATUSES_IGNORE), "MPI_Testall");
    return done != 0 && copy_.test();
}

void post(Message const& message, int tag, MPI_Comm comm, MPI_Request& request) {
    if (message.outgoing) {
        check(MPI_Isend(message.data, message.bytes, MPI_BYTE, message.peer, tag, comm, &request), "MPI_Isend");
    } else {
        check(MPI_Irecv(message.data, message.bytes, MPI_BYTE, message.peer, tag, comm, &request), "MPI_Irecv");
    }
}

std::vector<Message> messages_of(Exchange const& exchange, Buffers const& buffers, int me, Limits const& limits) {
    std::vector<Message> messages;
    for (Block const& block : rotated_peers(exchange.recv, me)) {
        append_messages(buffers.base[exchange.recv_buffer] + block.offset, block.bytes, block.peer, false, limits,
                        messages);
    }
    for (Block const& block : rotated_peers(exchange.send, me)) {
        append_messages(buffers.base[exchange.send_buffer] + block.offset, block.bytes, block.peer, true, limits,
                        messages);
    }
    return messages;
}

}  // namespace dlmb::mpi
