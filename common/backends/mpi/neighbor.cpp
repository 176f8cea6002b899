// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Method neighbor: MPI_Neighbor_alltoallv on a graph of this exchange's blocks. The library sees only peers that get
// something.
#include "common/backends/mpi/counts.hpp"
#include "common/backends/mpi/methods.hpp"

namespace dlmb::mpi {
namespace {

struct NeighborAlltoallv {
    void blocking() const {
        check(MPI_Neighbor_alltoallv(send.base, send.counts.data(), send.offsets.data(), MPI_BYTE, recv.base,
                                     recv.counts.data(), recv.offsets.data(), MPI_BYTE, graph.get()),
              "MPI_Neighbor_alltoallv");
    }
    void nonblocking(MPI_Request& request) const {
        check(MPI_Ineighbor_alltoallv(send.base, send.counts.data(), send.offsets.data(), MPI_BYTE, recv.base,
                                      recv.counts.data(), recv.offsets.data(), MPI_BYTE, graph.get(), &request),
              "MPI_Ineighbor_alltoallv");
    }

    IntSide send;
    IntSide recv;
    Communicator graph;
};

IntSide sparse_side(std::vector<Block> const& blocks, std::byte* base) {
    IntSide side{base, {}, {}};
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

PreparedCall compile_neighbor(Operation const& operation, CompileContext const& context) {
    if (context.large) {
        return isend_irecv().compile(operation, context);
    }
    auto const& exchange = std::get<Exchange>(operation);
    return prepare_collective(NeighborAlltoallv{sparse_side(exchange.send, context.send_base(exchange)),
                                                sparse_side(exchange.recv, context.recv_base(exchange)),
                                                graph_of(exchange, context.comm(exchange.group))},
                              context.concurrent);
}

}  // namespace

// Each of its calls has a communicator, so a staged exchange is not cut into several.
Method neighbor() {
    return {.info = {"neighbor",
                     "MPI_Neighbor_alltoallv on a graph communicator of the exchange's peers",
                     {OperationKind::exchange}},
            .compile = compile_neighbor,
            .whole_exchanges = true};
}

}  // namespace dlmb::mpi
