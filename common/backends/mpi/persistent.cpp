// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/backends/mpi/persistent.hpp"

#include "common/backends/mpi/persistent_api.hpp"
#include "common/bootstrap/mpi/mpi_check.hpp"

#include <exception>

namespace dlmb::mpi {

std::vector<MPI_Request> persistent_requests(std::vector<Message> const& messages, int tag, MPI_Comm comm) {
    std::vector<MPI_Request> requests;
    requests.reserve(messages.size());
    for (Message const& message : messages) {
        MPI_Request& request = requests.emplace_back(MPI_REQUEST_NULL);
        if (message.outgoing) {
            check(MPI_Send_init(message.data, message.bytes, MPI_BYTE, message.peer, tag, comm, &request),
                  "MPI_Send_init");
        } else {
            check(MPI_Recv_init(message.data, message.bytes, MPI_BYTE, message.peer, tag, comm, &request),
                  "MPI_Recv_init");
        }
    }
    return requests;
}

std::vector<MPI_Request> persistent_requests(std::vector<NativeCall> const& calls, MPI_Comm comm) {
    PersistentApi const& api = *persistent_api();
    std::vector<MPI_Request> requests;
    requests.reserve(calls.size());
    for (NativeCall const& call : calls) {
        MPI_Request& request = requests.emplace_back(MPI_REQUEST_NULL);
        switch (call.kind) {
        case NativeCall::Kind::all_reduce:
            check(api.all_reduce(call.send, call.recv, call.count, call.type, call.operation, comm, MPI_INFO_NULL,
                                 &request),
                  "MPI_Allreduce_init");
            break;
        case NativeCall::Kind::reduce_scatter:
            check(api.reduce_scatter(call.send, call.recv, call.count, call.type, call.operation, comm, MPI_INFO_NULL,
                                     &request),
                  "MPI_Reduce_scatter_block_init");
            break;
        case NativeCall::Kind::all_gather:
            check(api.all_gather(call.send, call.count, call.type, call.recv, call.count, call.type, comm,
                                 MPI_INFO_NULL, &request),
                  "MPI_Allgather_init");
            break;
        case NativeCall::Kind::broadcast:
            check(api.broadcast(call.recv, call.count, call.type, call.root, comm, MPI_INFO_NULL, &request),
                  "MPI_Bcast_init");
            break;
        }
    }
    return requests;
}

// While an exception unwinds a request may still be active, and the launch is about to be aborted.
Persistent::~Persistent() {
    int finalized = 0;
    MPI_Finalized(&finalized);
    if (finalized != 0 || std::uncaught_exceptions() > 0) {
        return;
    }
    for (MPI_Request& request : requests_) {
        if (request != MPI_REQUEST_NULL) {
            MPI_Request_free(&request);
        }
    }
}

void Persistent::wait() {
    check(MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE), "MPI_Waitall");
    copy_.wait();
}

void Persistent::start() {
    if (!requests_.empty()) {  // Open MPI calls an empty list an invalid request
        check(MPI_Startall(static_cast<int>(requests_.size()), requests_.data()), "MPI_Startall");
    }
    copy_.start();
}

bool Persistent::test() {
    int done = 0;
    check(MPI_Testall(static_cast<int>(requests_.size()), requests_.data(), &done, MPI_STATUSES_IGNORE), "MPI_Testall");
    return done != 0 && copy_.test();
}

}  // namespace dlmb::mpi
