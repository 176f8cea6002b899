// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Method alltoallv: one MPI_Alltoallv per exchange. The self block is the library's business, too.
#include "common/backends/mpi/counts.hpp"
#include "common/backends/mpi/methods.hpp"

namespace dlmb::mpi {
namespace {

struct Alltoallv {
    void blocking() const {
        check(MPI_Alltoallv(send.base, send.counts.data(), send.offsets.data(), MPI_BYTE, recv.base, recv.counts.data(),
                            recv.offsets.data(), MPI_BYTE, comm),
              "MPI_Alltoallv");
    }
    void nonblocking(MPI_Request& request) const {
        check(MPI_Ialltoallv(send.base, send.counts.data(), send.offsets.data(), MPI_BYTE, recv.base,
                             recv.counts.data(), recv.offsets.data(), MPI_BYTE, comm, &request),
              "MPI_Ialltoallv");
    }

    IntSide send;
    IntSide recv;
    MPI_Comm comm;
};

struct LargeAlltoallv {
    void blocking() const { check(large_alltoallv(send, recv, comm), "MPI_Alltoallv_c"); }
    void nonblocking(MPI_Request& request) const {
        check(large_ialltoallv(send, recv, comm, request), "MPI_Ialltoallv_c");
    }

    LargeSide send;
    LargeSide recv;
    MPI_Comm comm;
};

template <class Call, class Count, class Offset>
PreparedCall prepare_alltoallv(Exchange const& exchange, CompileContext const& context) {
    int const ranks = context.ranks(exchange.group);
    return prepare_collective(Call{dense_side<Count, Offset>(exchange.send, context.send_base(exchange), ranks),
                                   dense_side<Count, Offset>(exchange.recv, context.recv_base(exchange), ranks),
                                   context.comm(exchange.group)},
                              context.concurrent);
}

PreparedCall compile_alltoallv(Operation const& operation, CompileContext const& context) {
    auto const& exchange = std::get<Exchange>(operation);
    if (!context.large) {
        return prepare_alltoallv<Alltoallv, int, int>(exchange, context);
    }
    if (has_large_counts()) {
        return prepare_alltoallv<LargeAlltoallv, MPI_Count, MPI_Aint>(exchange, context);
    }
    return isend_irecv().compile(operation, context);
}

}  // namespace

Method alltoallv() {
    return {.info = {"alltoallv", "one MPI_Alltoallv per exchange", {OperationKind::exchange}},
            .compile = compile_alltoallv};
}

}  // namespace dlmb::mpi
