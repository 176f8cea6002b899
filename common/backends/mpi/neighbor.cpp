// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/backends/mpi/neighbor.hpp"

#include "common/bootstrap/mpi/mpi_check.hpp"

namespace dlmb::mpi {
namespace {

Side sparse_side(std::vector<Block> const& blocks, std::byte* base) {
    Side side{base, {}, {}};
    for (Block const& block : blocks) {
        side.counts.push_back(static_cast<int>(block.bytes));
        side.offsets.push_back(static_cast<int>(block.offset));
    }
    return side;
}

std::vector<int> peers_of(std::vector<Block> const& blocks) {
    std::vector<int> peers;
    peers.reserve(blocks.size() + 1);  // never a null pointer: MPI libraries check it even when there is no peer
    for (Block const& block : blocks) {
        peers.push_back(block.peer);
    }
    return peers;
}

Communicator graph_of(Exchange const& exchange, MPI_Comm group) {
    std::vector<int> const sources = peers_of(exchange.recv);
    std::vector<int> const targets = peers_of(exchange.send);
    MPI_Comm graph = MPI_COMM_NULL;
    check(MPI_Dist_graph_create_adjacent(group, static_cast<int>(sources.size()), sources.data(), MPI_UNWEIGHTED,
                                         static_cast<int>(targets.size()), targets.data(), MPI_UNWEIGHTED,
                                         MPI_INFO_NULL, 0, &graph),
          "MPI_Dist_graph_create_adjacent");
    return Communicator(graph);
}

}  // namespace

Neighbor::Neighbor(Exchange const& exchange, std::byte* send_base, std::byte* recv_base, MPI_Comm group,
                   bool concurrent)
    : send_(sparse_side(exchange.send, send_base)), recv_(sparse_side(exchange.recv, recv_base)),
      graph_(graph_of(exchange, group)), concurrent_(concurrent) {}

void Neighbor::wait() {
    if (concurrent_) {
        check(MPI_Wait(&request_, MPI_STATUS_IGNORE), "MPI_Wait");
    }
}

void Neighbor::start() {
    if (concurrent_) {
        check(MPI_Ineighbor_alltoallv(send_.base, send_.counts.data(), send_.offsets.data(), MPI_BYTE, recv_.base,
                                      recv_.counts.data(), recv_.offsets.data(), MPI_BYTE, graph_.get(), &request_),
              "MPI_Ineighbor_alltoallv");
    } else {
        check(MPI_Neighbor_alltoallv(send_.base, send_.counts.data(), send_.offsets.data(), MPI_BYTE, recv_.base,
                                     recv_.counts.data(), recv_.offsets.data(), MPI_BYTE, graph_.get()),
              "MPI_Neighbor_alltoallv");
    }
}

bool Neighbor::test() {
    int done = 1;
    if (concurrent_) {
        check(MPI_Test(&request_, &done, MPI_STATUS_IGNORE), "MPI_Test");
    }
    return done != 0;
}

}  // namespace dlmb::mpi
