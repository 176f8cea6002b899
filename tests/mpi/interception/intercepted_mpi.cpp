// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "tests/mpi/interception/intercepted_mpi.hpp"

#include <mpi.h>

#include <algorithm>
#include <functional>
#include <numeric>
#include <span>
#include <vector>

namespace dlmb::intercepted {
namespace {

using Block = std::span<std::byte>;

Given counted;
std::optional<Strike> striking;
std::uint64_t calls = 0;  // since strike()
std::optional<std::uint64_t> denied;
std::uint64_t windows = 0;  // since deny_window()

std::uint64_t bytes_of(int count, MPI_Datatype type) {
    int size = 0;
    PMPI_Type_size(type, &size);
    return static_cast<std::uint64_t>(count) * static_cast<std::uint64_t>(size);
}

void count_message(int peer, std::uint64_t bytes, MPI_Comm comm) {
    int me = 0;
    PMPI_Comm_rank(comm, &me);
    if (peer != me) {
        ++counted.messages;
        counted.message_bytes += bytes;
    }
}

int ranks_of(MPI_Comm comm) {
    int ranks = 0;
    PMPI_Comm_size(comm, &ranks);
    return ranks;
}

/// `type_of`: by peer.
void count_typed_blocks(int const* counts, MPI_Comm comm, auto const& type_of) {
    for (int peer = 0; peer < ranks_of(comm); ++peer) {
        if (counts[peer] > 0) {
            count_message(peer, bytes_of(counts[peer], type_of(peer)), comm);
        }
    }
}

void count_blocks(int const* counts, MPI_Datatype type, MPI_Comm comm) {
    count_typed_blocks(counts, comm, [type](int) { return type; });
}

void count_equal_blocks(int count, MPI_Datatype type, MPI_Comm comm) {
    count_blocks(std::vector<int>(static_cast<std::size_t>(ranks_of(comm)), count).data(), type, comm);
}

/// Neighbours are numbered apart from ranks.
void count_neighbor_blocks(int const* counts, MPI_Datatype type, MPI_Comm comm) {
    int sources = 0;
    int destinations = 0;
    int weighted = 0;
    PMPI_Dist_graph_neighbors_count(comm, &sources, &destinations, &weighted);
    std::vector<int> from(static_cast<std::size_t>(sources));
    std::vector<int> to(static_cast<std::size_t>(destinations));
    PMPI_Dist_graph_neighbors(comm, sources, from.data(), MPI_UNWEIGHTED, destinations, to.data(), MPI_UNWEIGHTED);
    for (std::size_t i = 0; i < to.size(); ++i) {
        if (counts[i] > 0) {
            count_message(to[i], bytes_of(counts[i], type), comm);
        }
    }
}

void count_collective(int count, MPI_Datatype type) {
    ++counted.collectives;
    counted.collective_bytes += bytes_of(count, type);
}

void count_gathered(int count_per_rank, MPI_Datatype type, MPI_Comm comm) {
    ++counted.collectives;
    counted.collective_bytes += bytes_of(count_per_rank, type) * static_cast<std::uint64_t>(ranks_of(comm));
}

void count_parts(int const* counts, MPI_Datatype type, MPI_Comm comm) {
    ++counted.collectives;
    counted.collective_bytes += bytes_of(std::accumulate(counts, counts + ranks_of(comm), 0), type);
}

Block block_at(void const* data, int offset, int count, MPI_Datatype type) {
    auto* const begin = static_cast<std::byte*>(const_cast<void*>(data));
    return {begin + bytes_of(offset, type), bytes_of(count, type)};
}

std::vector<Block> blocks_at(void const* data, int const* offsets, int const* counts, MPI_Datatype type,
                             MPI_Comm comm) {
    std::vector<Block> blocks;
    for (int peer = 0; peer < ranks_of(comm); ++peer) {
        blocks.push_back(block_at(data, offsets[peer], counts[peer], type));
    }
    return blocks;
}

/// Makes the library's call, and if it is to be struck does so. `sent`: not in place. Blocks are not empty.
int struck(std::vector<Block> const& sent, std::vector<Block> const& received, std::function<int()> const& call) {
    std::uint64_t const number = calls++;
    if (!striking || number < striking->first || number > striking->last) {
        return call();
    }
    std::vector<std::vector<std::byte>> before;
    for (Block const& block : received) {
        before.emplace_back(block.begin(), block.end());
    }
    int const code = call();
    switch (striking->fault) {
    case Fault::flipped_byte:
        received.back().back() ^= std::byte{0x10};
        break;
    case Fault::swapped_blocks: {
        Block const one = received.front();
        Block const other = received.back();
        std::swap_ranges(one.begin(), one.begin() + static_cast<std::ptrdiff_t>(std::min(one.size(), other.size())),
                         other.begin());
        break;
    }
    case Fault::nothing_delivered:
        for (std::size_t i = 0; i < received.size(); ++i) {
            std::copy(before[i].begin(), before[i].end(), received[i].begin());
        }
        break;
    case Fault::overrun:
        *(received.back().data() + received.back().size()) ^= std::byte{0x10};
        break;
    case Fault::changed_send:
        sent.back().front() ^= std::byte{0x10};
        break;
    }
    return code;
}

void count_send(int count, MPI_Datatype type, int to, MPI_Comm comm) {
    if (count == 0) {
        ++counted.notices;
    } else {
        count_message(to, bytes_of(count, type), comm);
    }
}

}  // namespace

void strike(std::optional<Strike> const& what) {
    striking = what;
    calls = 0;
}

void deny_window(std::optional<std::uint64_t> which) {
    denied = which;
    windows = 0;
}

Given given() {
    return counted;
}

void reset() {
    counted = {};
}

}  // namespace dlmb::intercepted

using namespace dlmb::intercepted;

extern "C" {

int MPI_Send(void const* data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm) {
    count_send(count, type, to, comm);
    return PMPI_Send(data, count, type, to, tag, comm);
}

int MPI_Isend(void const* data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm, MPI_Request* request) {
    count_send(count, type, to, comm);
    return PMPI_Isend(data, count, type, to, tag, comm, request);
}

int MPI_Put(void const* from, int count, MPI_Datatype type, int to, MPI_Aint place, int count_there,
            MPI_Datatype type_there, MPI_Win window) {
    ++counted.messages;
    counted.message_bytes += bytes_of(count, type);
    return PMPI_Put(from, count, type, to, place, count_there, type_there, window);
}

// The others have the window: whether one can be had is found out on each rank alone.
int MPI_Win_create(void* base, MPI_Aint size, int unit, MPI_Info info, MPI_Comm comm, MPI_Win* window) {
    int const code = PMPI_Win_create(base, size, unit, info, comm, window);
    return windows++ == denied ? MPI_ERR_NO_MEM : code;
}

int MPI_Win_allocate(MPI_Aint size, int unit, MPI_Info info, MPI_Comm comm, void* base, MPI_Win* window) {
    int const code = PMPI_Win_allocate(size, unit, info, comm, base, window);
    return windows++ == denied ? MPI_ERR_NO_MEM : code;
}

int MPI_Get(void* to, int count, MPI_Datatype type, int from, MPI_Aint place, int count_there, MPI_Datatype type_there,
            MPI_Win window) {
    ++counted.gets;
    counted.get_bytes += bytes_of(count, type);
    return PMPI_Get(to, count, type, from, place, count_there, type_there, window);
}

int MPI_Accumulate(void const* from, int count, MPI_Datatype type, int to, MPI_Aint place, int count_there,
                   MPI_Datatype type_there, MPI_Op operation, MPI_Win window) {
    ++counted.accumulates;
    counted.accumulate_bytes += bytes_of(count, type);
    return PMPI_Accumulate(from, count, type, to, place, count_there, type_there, operation, window);
}

int MPI_Alltoall(void const* from, int send_count, MPI_Datatype send_type, void* to, int recv_count,
                 MPI_Datatype recv_type, MPI_Comm comm) {
    count_equal_blocks(send_count, send_type, comm);
    return PMPI_Alltoall(from, send_count, send_type, to, recv_count, recv_type, comm);
}

int MPI_Alltoallv(void const* from, int const* send_counts, int const* send_offsets, MPI_Datatype send_type, void* to,
                  int const* recv_counts, int const* recv_offsets, MPI_Datatype recv_type, MPI_Comm comm) {
    count_blocks(send_counts, send_type, comm);
    return struck(blocks_at(from, send_offsets, send_counts, send_type, comm),
                  blocks_at(to, recv_offsets, recv_counts, recv_type, comm), [&] {
                      return PMPI_Alltoallv(from, send_counts, send_offsets, send_type, to, recv_counts, recv_offsets,
                                            recv_type, comm);
                  });
}

int MPI_Alltoallw(void const* from, int const* send_counts, int const* send_offsets, MPI_Datatype const* send_types,
                  void* to, int const* recv_counts, int const* recv_offsets, MPI_Datatype const* recv_types,
                  MPI_Comm comm) {
    count_typed_blocks(send_counts, comm, [send_types](int peer) { return send_types[peer]; });
    return PMPI_Alltoallw(from, send_counts, send_offsets, send_types, to, recv_counts, recv_offsets, recv_types, comm);
}

int MPI_Ialltoall(void const* from, int send_count, MPI_Datatype send_type, void* to, int recv_count,
                  MPI_Datatype recv_type, MPI_Comm comm, MPI_Request* request) {
    count_equal_blocks(send_count, send_type, comm);
    return PMPI_Ialltoall(from, send_count, send_type, to, recv_count, recv_type, comm, request);
}

int MPI_Ialltoallv(void const* from, int const* send_counts, int const* send_offsets, MPI_Datatype send_type, void* to,
                   int const* recv_counts, int const* recv_offsets, MPI_Datatype recv_type, MPI_Comm comm,
                   MPI_Request* request) {
    count_blocks(send_counts, send_type, comm);
    return PMPI_Ialltoallv(from, send_counts, send_offsets, send_type, to, recv_counts, recv_offsets, recv_type, comm,
                           request);
}

int MPI_Ialltoallw(void const* from, int const* send_counts, int const* send_offsets, MPI_Datatype const* send_types,
                   void* to, int const* recv_counts, int const* recv_offsets, MPI_Datatype const* recv_types,
                   MPI_Comm comm, MPI_Request* request) {
    count_typed_blocks(send_counts, comm, [send_types](int peer) { return send_types[peer]; });
    return PMPI_Ialltoallw(from, send_counts, send_offsets, send_types, to, recv_counts, recv_offsets, recv_types, comm,
                           request);
}

int MPI_Neighbor_alltoallv(void const* from, int const* send_counts, int const* send_offsets, MPI_Datatype send_type,
                           void* to, int const* recv_counts, int const* recv_offsets, MPI_Datatype recv_type,
                           MPI_Comm comm) {
    count_neighbor_blocks(send_counts, send_type, comm);
    return PMPI_Neighbor_alltoallv(from, send_counts, send_offsets, send_type, to, recv_counts, recv_offsets, recv_type,
                                   comm);
}

int MPI_Ineighbor_alltoallv(void const* from, int const* send_counts, int const* send_offsets, MPI_Datatype send_type,
                            void* to, int const* recv_counts, int const* recv_offsets, MPI_Datatype recv_type,
                            MPI_Comm comm, MPI_Request* request) {
    count_neighbor_blocks(send_counts, send_type, comm);
    return PMPI_Ineighbor_alltoallv(from, send_counts, send_offsets, send_type, to, recv_counts, recv_offsets,
                                    recv_type, comm, request);
}

int MPI_Allreduce(void const* from, void* to, int count, MPI_Datatype type, MPI_Op operation, MPI_Comm comm) {
    count_collective(count, type);
    return struck({block_at(from == MPI_IN_PLACE ? to : from, 0, count, type)}, {block_at(to, 0, count, type)},
                  [&] { return PMPI_Allreduce(from, to, count, type, operation, comm); });
}

int MPI_Iallreduce(void const* from, void* to, int count, MPI_Datatype type, MPI_Op operation, MPI_Comm comm,
                   MPI_Request* request) {
    count_collective(count, type);
    return PMPI_Iallreduce(from, to, count, type, operation, comm, request);
}

int MPI_Reduce_scatter_block(void const* from, void* to, int count, MPI_Datatype type, MPI_Op operation,
                             MPI_Comm comm) {
    count_gathered(count, type, comm);
    return PMPI_Reduce_scatter_block(from, to, count, type, operation, comm);
}

int MPI_Ireduce_scatter_block(void const* from, void* to, int count, MPI_Datatype type, MPI_Op operation, MPI_Comm comm,
                              MPI_Request* request) {
    count_gathered(count, type, comm);
    return PMPI_Ireduce_scatter_block(from, to, count, type, operation, comm, request);
}

int MPI_Allgather(void const* from, int send_count, MPI_Datatype send_type, void* to, int recv_count,
                  MPI_Datatype recv_type, MPI_Comm comm) {
    count_gathered(recv_count, recv_type, comm);
    return PMPI_Allgather(from, send_count, send_type, to, recv_count, recv_type, comm);
}

int MPI_Iallgather(void const* from, int send_count, MPI_Datatype send_type, void* to, int recv_count,
                   MPI_Datatype recv_type, MPI_Comm comm, MPI_Request* request) {
    count_gathered(recv_count, recv_type, comm);
    return PMPI_Iallgather(from, send_count, send_type, to, recv_count, recv_type, comm, request);
}

int MPI_Bcast(void* data, int count, MPI_Datatype type, int root, MPI_Comm comm) {
    count_collective(count, type);
    return PMPI_Bcast(data, count, type, root, comm);
}

int MPI_Ibcast(void* data, int count, MPI_Datatype type, int root, MPI_Comm comm, MPI_Request* request) {
    count_collective(count, type);
    return PMPI_Ibcast(data, count, type, root, comm, request);
}

int MPI_Reduce(void const* from, void* to, int count, MPI_Datatype type, MPI_Op operation, int root, MPI_Comm comm) {
    count_collective(count, type);
    return PMPI_Reduce(from, to, count, type, operation, root, comm);
}

int MPI_Ireduce(void const* from, void* to, int count, MPI_Datatype type, MPI_Op operation, int root, MPI_Comm comm,
                MPI_Request* request) {
    count_collective(count, type);
    return PMPI_Ireduce(from, to, count, type, operation, root, comm, request);
}

int MPI_Reduce_scatter(void const* from, void* to, int const* counts, MPI_Datatype type, MPI_Op operation,
                       MPI_Comm comm) {
    count_parts(counts, type, comm);
    return PMPI_Reduce_scatter(from, to, counts, type, operation, comm);
}

int MPI_Ireduce_scatter(void const* from, void* to, int const* counts, MPI_Datatype type, MPI_Op operation,
                        MPI_Comm comm, MPI_Request* request) {
    count_parts(counts, type, comm);
    return PMPI_Ireduce_scatter(from, to, counts, type, operation, comm, request);
}

int MPI_Allgatherv(void const* from, int send_count, MPI_Datatype send_type, void* to, int const* recv_counts,
                   int const* recv_offsets, MPI_Datatype recv_type, MPI_Comm comm) {
    count_parts(recv_counts, recv_type, comm);
    return PMPI_Allgatherv(from, send_count, send_type, to, recv_counts, recv_offsets, recv_type, comm);
}

int MPI_Iallgatherv(void const* from, int send_count, MPI_Datatype send_type, void* to, int const* recv_counts,
                    int const* recv_offsets, MPI_Datatype recv_type, MPI_Comm comm, MPI_Request* request) {
    count_parts(recv_counts, recv_type, comm);
    return PMPI_Iallgatherv(from, send_count, send_type, to, recv_counts, recv_offsets, recv_type, comm, request);
}

int MPI_Gather(void const* from, int send_count, MPI_Datatype send_type, void* to, int recv_count,
               MPI_Datatype recv_type, int root, MPI_Comm comm) {
    count_gathered(recv_count, recv_type, comm);
    return PMPI_Gather(from, send_count, send_type, to, recv_count, recv_type, root, comm);
}

int MPI_Igather(void const* from, int send_count, MPI_Datatype send_type, void* to, int recv_count,
                MPI_Datatype recv_type, int root, MPI_Comm comm, MPI_Request* request) {
    count_gathered(recv_count, recv_type, comm);
    return PMPI_Igather(from, send_count, send_type, to, recv_count, recv_type, root, comm, request);
}

int MPI_Gatherv(void const* from, int send_count, MPI_Datatype send_type, void* to, int const* recv_counts,
                int const* recv_offsets, MPI_Datatype recv_type, int root, MPI_Comm comm) {
    count_parts(recv_counts, recv_type, comm);
    return PMPI_Gatherv(from, send_count, send_type, to, recv_counts, recv_offsets, recv_type, root, comm);
}

int MPI_Igatherv(void const* from, int send_count, MPI_Datatype send_type, void* to, int const* recv_counts,
                 int const* recv_offsets, MPI_Datatype recv_type, int root, MPI_Comm comm, MPI_Request* request) {
    count_parts(recv_counts, recv_type, comm);
    return PMPI_Igatherv(from, send_count, send_type, to, recv_counts, recv_offsets, recv_type, root, comm, request);
}

int MPI_Scatter(void const* from, int send_count, MPI_Datatype send_type, void* to, int recv_count,
                MPI_Datatype recv_type, int root, MPI_Comm comm) {
    count_gathered(send_count, send_type, comm);
    return PMPI_Scatter(from, send_count, send_type, to, recv_count, recv_type, root, comm);
}

int MPI_Iscatter(void const* from, int send_count, MPI_Datatype send_type, void* to, int recv_count,
                 MPI_Datatype recv_type, int root, MPI_Comm comm, MPI_Request* request) {
    count_gathered(send_count, send_type, comm);
    return PMPI_Iscatter(from, send_count, send_type, to, recv_count, recv_type, root, comm, request);
}

int MPI_Scatterv(void const* from, int const* send_counts, int const* send_offsets, MPI_Datatype send_type, void* to,
                 int recv_count, MPI_Datatype recv_type, int root, MPI_Comm comm) {
    count_parts(send_counts, send_type, comm);
    return PMPI_Scatterv(from, send_counts, send_offsets, send_type, to, recv_count, recv_type, root, comm);
}

int MPI_Iscatterv(void const* from, int const* send_counts, int const* send_offsets, MPI_Datatype send_type, void* to,
                  int recv_count, MPI_Datatype recv_type, int root, MPI_Comm comm, MPI_Request* request) {
    count_parts(send_counts, send_type, comm);
    return PMPI_Iscatterv(from, send_counts, send_offsets, send_type, to, recv_count, recv_type, root, comm, request);
}

int MPI_Barrier(MPI_Comm comm) {
    ++counted.collectives;
    return PMPI_Barrier(comm);
}

int MPI_Ibarrier(MPI_Comm comm, MPI_Request* request) {
    ++counted.collectives;
    return PMPI_Ibarrier(comm, request);
}

}  // extern "C"
