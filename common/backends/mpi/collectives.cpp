// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Methods blocking and nonblocking: the library's own collectives.
#include "common/backends/mpi/collective_arguments.hpp"

namespace dlmb::mpi {
namespace {

void call_blocking(CollectiveArguments const& call, MPI_Comm comm) {
    switch (call.kind) {
    case OperationKind::all_reduce:
        check(MPI_Allreduce(call.send, call.recv, call.count, call.type, call.operation, comm), "MPI_Allreduce");
        break;
    case OperationKind::reduce_scatter:
        check(MPI_Reduce_scatter_block(call.send, call.recv, call.count, call.type, call.operation, comm),
              "MPI_Reduce_scatter_block");
        break;
    case OperationKind::all_gather:
        check(MPI_Allgather(call.send, call.count, call.type, call.recv, call.count, call.type, comm), "MPI_Allgather");
        break;
    default:
        check(MPI_Bcast(call.recv, call.count, call.type, call.root, comm), "MPI_Bcast");
        break;
    }
}

void call_nonblocking(CollectiveArguments const& call, MPI_Comm comm, MPI_Request& request) {
    switch (call.kind) {
    case OperationKind::all_reduce:
        check(MPI_Iallreduce(call.send, call.recv, call.count, call.type, call.operation, comm, &request),
              "MPI_Iallreduce");
        break;
    case OperationKind::reduce_scatter:
        check(MPI_Ireduce_scatter_block(call.send, call.recv, call.count, call.type, call.operation, comm, &request),
              "MPI_Ireduce_scatter_block");
        break;
    case OperationKind::all_gather:
        check(MPI_Iallgather(call.send, call.count, call.type, call.recv, call.count, call.type, comm, &request),
              "MPI_Iallgather");
        break;
    default:
        check(MPI_Ibcast(call.recv, call.count, call.type, call.root, comm, &request), "MPI_Ibcast");
        break;
    }
}

struct BlockingCollective {
    void start() const {
        for (CollectiveArguments const& call : calls) {
            call_blocking(call, comm);
        }
    }

    std::vector<CollectiveArguments> calls;
    MPI_Comm comm;
};

class NonblockingCollective {
public:
    NonblockingCollective(std::vector<CollectiveArguments> calls, MPI_Comm comm)
        : calls_(std::move(calls)), requests_(calls_.size(), MPI_REQUEST_NULL), comm_(comm) {}
    void start() {
        for (std::size_t i = 0; i < calls_.size(); ++i) {
            call_nonblocking(calls_[i], comm_, requests_[i]);
        }
    }
    void wait() { wait_all(requests_); }
    [[nodiscard]] bool test() { return test_all(requests_); }

private:
    std::vector<CollectiveArguments> calls_;
    std::vector<MPI_Request> requests_;
    MPI_Comm comm_;
};

PreparedCall compile_blocking(Operation const& operation, CompileContext const& context) {
    std::vector<CollectiveArguments> calls = collective_arguments(operation, context);
    MPI_Comm const comm = collective_comm(operation, context);
    return context.concurrent ? PreparedCall(NonblockingCollective(std::move(calls), comm))
                              : PreparedCall(BlockingCollective{std::move(calls), comm});
}

PreparedCall compile_nonblocking(Operation const& operation, CompileContext const& context) {
    CompileContext concurrent = context;
    concurrent.concurrent = true;
    bool const is_exchange = std::holds_alternative<Exchange>(operation);
    return is_exchange ? alltoallv().compile(operation, concurrent) : compile_blocking(operation, concurrent);
}

}  // namespace

Method blocking() {
    return {.info = {"blocking",
                     "MPI_Allreduce, MPI_Reduce_scatter_block, MPI_Allgather, MPI_Bcast",
                     {OperationKind::all_reduce, OperationKind::reduce_scatter, OperationKind::all_gather,
                      OperationKind::broadcast}},
            .compile = compile_blocking,
            .refusal = share_refusal};
}

Method nonblocking() {
    return {.info = {"nonblocking", "MPI_Iallreduce and its like, MPI_Ialltoallv, and a wait", collective_operations},
            .compile = compile_nonblocking,
            .refusal = share_refusal,
            .nonblocking_reductions = true};
}

}  // namespace dlmb::mpi
