// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "tests/benchmarks/ucx_vs_mpi/alltoallv_loop.hpp"

#include "common/base/error.hpp"

#include <limits>

namespace dlmb::benchmark {
namespace {

int to_int(Bytes bytes) {
    if (bytes > static_cast<Bytes>(std::numeric_limits<int>::max())) {
        throw UsageError("MPI_Alltoallv cannot carry a count or offset above 2 GiB - 1");
    }
    return static_cast<int>(bytes);
}

int size_of(MPI_Comm comm) {
    int size = 0;
    MPI_Comm_size(comm, &size);
    return size;
}

}  // namespace

AlltoallvLoop::AlltoallvLoop(Exchange const& exchange, std::byte* send, std::byte* recv, MPI_Comm comm)
    : comm_(comm), send_(side(exchange.send, send, size_of(comm))), recv_(side(exchange.recv, recv, size_of(comm))) {}

AlltoallvLoop::Side AlltoallvLoop::side(std::vector<Block> const& blocks, std::byte* base, int ranks) {
    Side made{base, std::vector<int>(static_cast<std::size_t>(ranks)),
              std::vector<int>(static_cast<std::size_t>(ranks))};
    for (Block const& block : blocks) {
        made.counts[static_cast<std::size_t>(block.peer)] = to_int(block.bytes);
        made.offsets[static_cast<std::size_t>(block.peer)] = to_int(block.offset);
    }
    return made;
}

void AlltoallvLoop::run() const {
    // Errors end the launch: the communicator keeps MPI_ERRORS_ARE_FATAL.
    MPI_Alltoallv(send_.base, send_.counts.data(), send_.offsets.data(), MPI_BYTE, recv_.base, recv_.counts.data(),
                  recv_.offsets.data(), MPI_BYTE, comm_);
}

}  // namespace dlmb::benchmark
