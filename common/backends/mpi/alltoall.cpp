// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Method alltoall: one MPI_Alltoall per exchange whose blocks are equal and packed.
#include "common/backends/mpi/methods.hpp"
#include "common/plan/plan.hpp"

namespace dlmb::mpi {
namespace {

struct Alltoall {
    void blocking() const {
        check(MPI_Alltoall(send, block_bytes, MPI_BYTE, recv, block_bytes, MPI_BYTE, comm), "MPI_Alltoall");
    }
    void nonblocking(MPI_Request& request) const {
        check(MPI_Ialltoall(send, block_bytes, MPI_BYTE, recv, block_bytes, MPI_BYTE, comm, &request), "MPI_Ialltoall");
    }

    std::byte const* send;  // first of the packed blocks
    std::byte* recv;
    int block_bytes;
    MPI_Comm comm;
};

PreparedCall compile_alltoall(Operation const& operation, CompileContext const& context) {
    auto const& exchange = std::get<Exchange>(operation);
    std::size_t const ranks = context.group(exchange.group).members.size();
    Packed const from = packed(exchange.send, ranks).value();
    Packed const to = packed(exchange.recv, ranks).value();
    Alltoall const call{context.send_base(exchange) + from.offset, context.recv_base(exchange) + to.offset,
                        static_cast<int>(from.block_bytes), context.comm(exchange.group)};
    return prepare_collective(call, context.concurrent);
}

std::string alltoall_refusal(Operation const& operation, Plan const& plan, Limits const& limits) {
    auto const& exchange = std::get<Exchange>(operation);
    auto const fits = [&](std::vector<Block> const& blocks) {
        auto const equal = packed(blocks, plan.groups.at(exchange.group).members.size());
        return equal && equal->block_bytes <= limits.call_bytes;
    };
    return fits(exchange.send) && fits(exchange.recv)
               ? ""
               : "MPI_Alltoall takes equal packed blocks of an int of bytes; alltoallv takes others";
}

}  // namespace

Method alltoall() {
    return {.info = {"alltoall", "one MPI_Alltoall per exchange", {OperationKind::exchange}, "", true},
            .compile = compile_alltoall,
            .refusal = alltoall_refusal,
            .whole_exchanges = true};
}

}  // namespace dlmb::mpi
