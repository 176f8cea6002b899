// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/backends/mpi/alltoallv.hpp"

#include "common/bootstrap/mpi/mpi_check.hpp"

#include <algorithm>

namespace dlmb::mpi {
namespace {

bool wait_or_test(MPI_Request& request, bool wait) {
    int done = 1;
    if (wait) {
        check(MPI_Wait(&request, MPI_STATUS_IGNORE), "MPI_Wait");
    } else {
        check(MPI_Test(&request, &done, MPI_STATUS_IGNORE), "MPI_Test");
    }
    return done != 0;
}

}  // namespace

bool fits_int(Exchange const& exchange, Limits const& limits) {
    auto const fits = [&](Block const& b) { return b.offset <= limits.call_bytes && b.bytes <= limits.call_bytes; };
    return std::all_of(exchange.send.begin(), exchange.send.end(), fits) &&
           std::all_of(exchange.recv.begin(), exchange.recv.end(), fits);
}

Side dense_side(std::vector<Block> const& blocks, std::byte* base, int ranks) {
    auto const size = static_cast<std::size_t>(ranks);
    Side side{base, std::vector<int>(size), std::vector<int>(size)};
    for (Block const& block : blocks) {
        side.counts[static_cast<std::size_t>(block.peer)] = static_cast<int>(block.bytes);
        side.offsets[static_cast<std::size_t>(block.peer)] = static_cast<int>(block.offset);
    }
    return side;
}

LargeSide dense_large_side(std::vector<Block> const& blocks, std::byte* base, int ranks) {
    auto const size = static_cast<std::size_t>(ranks);
    LargeSide side{base, std::vector<MPI_Count>(size), std::vector<MPI_Aint>(size)};
    for (Block const& block : blocks) {
        side.counts[static_cast<std::size_t>(block.peer)] = static_cast<MPI_Count>(block.bytes);
        side.offsets[static_cast<std::size_t>(block.peer)] = static_cast<MPI_Aint>(block.offset);
    }
    return side;
}

Alltoallv::Alltoallv(Side send, Side recv, MPI_Comm comm, bool concurrent)
    : send_(std::move(send)), recv_(std::move(recv)), comm_(comm), concurrent_(concurrent) {}

void Alltoallv::wait() {
    if (concurrent_) {
        (void)wait_or_test(request_, true);
    }
}

void Alltoallv::start() {
    if (concurrent_) {
        check(MPI_Ialltoallv(send_.base, send_.counts.data(), send_.offsets.data(), MPI_BYTE, recv_.base,
                             recv_.counts.data(), recv_.offsets.data(), MPI_BYTE, comm_, &request_),
              "MPI_Ialltoallv");
    } else {
        check(MPI_Alltoallv(send_.base, send_.counts.data(), send_.offsets.data(), MPI_BYTE, recv_.base,
                            recv_.counts.data(), recv_.offsets.data(), MPI_BYTE, comm_),
              "MPI_Alltoallv");
    }
}

bool Alltoallv::test() {
    return !concurrent_ || wait_or_test(request_, false);
}

LargeAlltoallv::LargeAlltoallv(LargeSide send, LargeSide recv, MPI_Comm comm, bool concurrent)
    : send_(std::move(send)), recv_(std::move(recv)), comm_(comm), concurrent_(concurrent) {}

void LargeAlltoallv::wait() {
    if (concurrent_) {
        (void)wait_or_test(request_, true);
    }
}

void LargeAlltoallv::start() {
    if (concurrent_) {
        check(large_ialltoallv(send_, recv_, comm_, request_), "MPI_Ialltoallv_c");
    } else {
        check(large_alltoallv(send_, recv_, comm_), "MPI_Alltoallv_c");
    }
}

bool LargeAlltoallv::test() {
    return !concurrent_ || wait_or_test(request_, false);
}

}  // namespace dlmb::mpi
