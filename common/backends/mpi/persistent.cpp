// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Method persistent: everything is matched once in compile(), and started together in each iteration.
#include "common/backends/mpi/collectives.hpp"
#include "common/backends/mpi/messages.hpp"

#include <exception>

namespace dlmb::mpi {
namespace {

class Persistent {
public:
    /// Takes the requests over.
    Persistent(std::vector<MPI_Request> requests, SelfCopy copy)
        : requests_(std::move(requests)), copy_(std::move(copy)) {}
    Persistent(Persistent const&) = delete;
    Persistent& operator=(Persistent const&) = delete;
    Persistent(Persistent&&) noexcept = default;
    Persistent& operator=(Persistent&&) = delete;
    // While an exception unwinds a request may still be active, and the launch is about to be aborted.
    ~Persistent() {
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
    void start() {
        if (!requests_.empty()) {  // Open MPI calls an empty list an invalid request
            check(MPI_Startall(static_cast<int>(requests_.size()), requests_.data()), "MPI_Startall");
        }
        copy_.start();
    }
    void wait() {
        wait_all(requests_);
        copy_.wait();
    }
    [[nodiscard]] bool test() { return test_all(requests_) && copy_.test(); }

private:
    std::vector<MPI_Request> requests_;
    SelfCopy copy_;
};

std::vector<MPI_Request> requests_of(StepMessages const& step) {
    std::vector<MPI_Request> requests;
    for (NativeMessage const& message : step.messages) {
        MPI_Request& request = requests.emplace_back(MPI_REQUEST_NULL);
        if (message.outgoing) {
            check(MPI_Send_init(message.data, message.bytes, MPI_BYTE, message.peer, step.tag, step.comm, &request),
                  "MPI_Send_init");
        } else {
            check(MPI_Recv_init(message.data, message.bytes, MPI_BYTE, message.peer, step.tag, step.comm, &request),
                  "MPI_Recv_init");
        }
    }
    return requests;
}

/// Collective.
std::vector<MPI_Request> requests_of(std::vector<CollectiveArguments> const& calls, MPI_Comm comm) {
    std::vector<MPI_Request> requests(calls.size(), MPI_REQUEST_NULL);
    for (std::size_t i = 0; i < calls.size(); ++i) {
        (*persistent_calls())(calls[i], comm, MPI_INFO_NULL, &requests[i]);
    }
    return requests;
}

PreparedCall compile_persistent(Operation const& operation, CompileContext const& context) {
    if (collective_operations.has(kind_of(operation)) && !std::holds_alternative<Exchange>(operation)) {
        return PreparedCall(
            Persistent(requests_of(collective_arguments(operation, context), collective_comm(operation, context)), {}));
    }
    StepMessages step = messages_of(operation, context);
    std::vector<MPI_Request> requests = requests_of(step);
    return PreparedCall(Persistent(std::move(requests), std::move(step.self)));
}

}  // namespace

Method persistent() {
    return {.info = {"persistent",
                     "requests made at set-up (MPI_Send_init, MPI_Allreduce_init ...), MPI_Startall and MPI_Waitall",
                     persistent_calls() != nullptr
                         ? every_operation
                         : OperationSet{OperationKind::exchange, OperationKind::send, OperationKind::recv}},
            .compile = compile_persistent,
            .nonblocking_reductions = true};
}

}  // namespace dlmb::mpi
