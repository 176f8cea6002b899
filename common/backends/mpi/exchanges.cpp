// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Methods alltoall, alltoallv, alltoallw and neighbor: one call of the library per exchange, which also does the self
// block. What all of them lack is in messages.hpp: blocks beyond int, where the library has no call for these.
#include "common/backends/mpi/collectives.hpp"
#include "common/backends/mpi/native_handle.hpp"

#include <algorithm>
#include <span>

namespace dlmb::mpi {
namespace {

/// One MPI_Alltoall of equal packed blocks.
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

/// Sent or received blocks: one entry per rank of the communicator, or per neighbour.
template <class Count, class Offset>
struct CountsAndOffsets {
    std::byte* base;
    std::vector<Count> counts;
    std::vector<Offset> offsets;
};

/// Places count from the first block. Both sides may lie in one buffer, and the non-blocking calls of Open MPI 4.1 take
/// equal addresses for MPI_IN_PLACE.
Bytes first_place(std::vector<Block> const& blocks, std::byte const* base) {
    return blocks.empty() || base == MPI_IN_PLACE ? 0 : blocks.front().offset;
}

/// By rank; ranks without a block have a count of 0.
template <class Count, class Offset>
CountsAndOffsets<Count, Offset> dense_side(std::vector<Block> const& blocks, std::byte* base, std::size_t ranks) {
    Bytes const first = first_place(blocks, base);
    CountsAndOffsets<Count, Offset> side{base + first, std::vector<Count>(ranks), std::vector<Offset>(ranks)};
    for (Block const& block : blocks) {
        side.counts[static_cast<std::size_t>(block.peer)] = static_cast<Count>(block.bytes);
        side.offsets[static_cast<std::size_t>(block.peer)] = static_cast<Offset>(block.offset - first);
    }
    return side;
}

/// The arguments of MPI_Alltoallv and of the calls like it.
template <class Count, class Offset>
struct RaggedArguments {
    template <class Call, class... Request>
    [[nodiscard]] int pass_to(Call call, MPI_Comm comm, Request... request) const {
        return call(send.base, send.counts.data(), send.offsets.data(), MPI_BYTE, recv.base, recv.counts.data(),
                    recv.offsets.data(), MPI_BYTE, comm, request...);
    }

    CountsAndOffsets<Count, Offset> send;
    CountsAndOffsets<Count, Offset> recv;
};

struct Alltoallv {
    void blocking() const { check(arguments.pass_to(MPI_Alltoallv, comm), "MPI_Alltoallv"); }
    void nonblocking(MPI_Request& request) const {
        check(arguments.pass_to(MPI_Ialltoallv, comm, &request), "MPI_Ialltoallv");
    }

    RaggedArguments<int, int> arguments;
    MPI_Comm comm;
};

struct LargeAlltoallv {
    void blocking() const { check(arguments.pass_to(calls.alltoallv, comm), "MPI_Alltoallv_c"); }
    void nonblocking(MPI_Request& request) const {
        check(arguments.pass_to(calls.ialltoallv, comm, &request), "MPI_Ialltoallv_c");
    }

    RaggedArguments<MPI_Count, MPI_Aint> arguments;
    MPI_Comm comm;
    LargeCountCalls calls = *large_count_calls();
};

/// On a graph of the exchange's blocks: the library sees only peers that get something.
struct NeighborAlltoallv {
    void blocking() const { check(arguments.pass_to(MPI_Neighbor_alltoallv, graph.get()), "MPI_Neighbor_alltoallv"); }
    void nonblocking(MPI_Request& request) const {
        check(arguments.pass_to(MPI_Ineighbor_alltoallv, graph.get(), &request), "MPI_Ineighbor_alltoallv");
    }

    RaggedArguments<int, int> arguments;
    Communicator graph;
};

/// Derived datatypes that are freed with their owner.
class Datatypes {
public:
    /// The bytes of `block` in pieces that a length of type int can hold. Its place, from `begin` on, is that of the
    /// datatype.
    [[nodiscard]] MPI_Datatype of(Block const& block, Bytes piece, Bytes begin) {
        std::vector<int> lengths;
        std::vector<MPI_Aint> offsets;
        for (Bytes first = 0; first < block.bytes; first += piece) {
            lengths.push_back(static_cast<int>(std::min(piece, block.bytes - first)));
            offsets.push_back(static_cast<MPI_Aint>(block.offset + first - begin));
        }
        MPI_Datatype type = MPI_DATATYPE_NULL;
        check(
            MPI_Type_create_hindexed(static_cast<int>(lengths.size()), lengths.data(), offsets.data(), MPI_BYTE, &type),
            "MPI_Type_create_hindexed");
        return committed(type);
    }

    /// Rows of `row_bytes` at `places`, which from `begin` on are that of the datatype.
    [[nodiscard]] MPI_Datatype of(std::span<Bytes const> places, Bytes row_bytes, Bytes begin) {
        std::vector<MPI_Aint> offsets(places.size());
        std::transform(places.begin(), places.end(), offsets.begin(),
                       [begin](Bytes place) { return static_cast<MPI_Aint>(place - begin); });
        MPI_Datatype type = MPI_DATATYPE_NULL;
        check(MPI_Type_create_hindexed_block(static_cast<int>(offsets.size()), static_cast<int>(row_bytes),
                                             offsets.data(), MPI_BYTE, &type),
              "MPI_Type_create_hindexed_block");
        return committed(type);
    }

private:
    MPI_Datatype committed(MPI_Datatype type) {
        made_.emplace_back(new MPI_Datatype(type));
        check(MPI_Type_commit(made_.back().get()), "MPI_Type_commit");
        return *made_.back();
    }

    std::vector<TypeHandle> made_;
};

/// By rank. Where a size or displacement is beyond int, the block of a peer is one element of a derived datatype that
/// holds its place and its length.
struct TypedSide : CountsAndOffsets<int, int> {
    TypedSide(std::vector<Block> const& blocks, std::byte* buffer, std::size_t ranks, CompileContext const& context)
        : CountsAndOffsets(dense_side<int, int>(blocks, buffer, ranks)), types(ranks, MPI_BYTE) {
        for (std::size_t i = 0; context.large && i < blocks.size(); ++i) {
            auto const peer = static_cast<std::size_t>(blocks[i].peer);
            counts[peer] = 1;
            offsets[peer] = 0;
            types[peer] = derived.of(blocks[i], context.limits.chunk_bytes, first_place(blocks, buffer));
        }
    }
    /// The rows of a peer are one element of a derived datatype that holds their places.
    TypedSide(std::vector<Block> const& blocks, std::byte* buffer, std::size_t ranks, ScatteredSide const& side,
              Bytes row_bytes)
        : CountsAndOffsets{buffer, std::vector<int>(ranks), std::vector<int>(ranks)}, types(ranks, MPI_BYTE) {
        std::vector<Bytes> const places = side.places();
        std::span<Bytes const> left = places;
        Bytes const begin = places.empty() ? 0 : places.front();
        base += begin;
        for (Block const& block : blocks) {
            auto const peer = static_cast<std::size_t>(block.peer);
            counts[peer] = 1;
            types[peer] = derived.of(left.first(block.bytes / row_bytes), row_bytes, begin);
            left = left.subspan(block.bytes / row_bytes);
        }
    }

    std::vector<MPI_Datatype> types;
    Datatypes derived;
};

struct Alltoallw {
    template <class Call, class... Request>
    [[nodiscard]] int pass_to(Call call, Request... request) const {
        return call(send.base, send.counts.data(), send.offsets.data(), send.types.data(), recv.base,
                    recv.counts.data(), recv.offsets.data(), recv.types.data(), comm, request...);
    }
    void blocking() const { check(pass_to(MPI_Alltoallw), "MPI_Alltoallw"); }
    void nonblocking(MPI_Request& request) const { check(pass_to(MPI_Ialltoallw, &request), "MPI_Ialltoallw"); }

    TypedSide send;
    TypedSide recv;
    MPI_Comm comm;
};

PreparedCall compile_alltoall(Operation const& operation, CompileContext const& context) {
    auto const& exchange = std::get<Exchange>(operation);
    std::size_t const ranks = context.group(exchange.group).members.size();
    Packed const from = packed(exchange.send, ranks).value();
    Packed const to = packed(exchange.recv, ranks).value();
    std::byte* const send = context.send_base(exchange);
    Alltoall const call{context.in_place ? send : send + from.offset, context.recv_base(exchange) + to.offset,
                        static_cast<int>(from.block_bytes), context.comm(exchange.group)};
    return prepare_collective(call, context.concurrent);
}

std::string alltoall_refusal(Operation const& operation, Plan const& plan, ChosenMethod const& /*method*/,
                             CallLimits const& limits) {
    auto const& exchange = std::get<Exchange>(operation);
    auto const fits = [&](std::vector<Block> const& blocks) {
        auto const equal = packed(blocks, plan.groups.at(exchange.group).members.size());
        return equal && equal->block_bytes <= limits.call_bytes;
    };
    return fits(exchange.send) && fits(exchange.recv)
               ? ""
               : "MPI_Alltoall takes equal packed blocks of an int of bytes; alltoallv takes others";
}

template <class Call, class Count, class Offset>
PreparedCall prepare_alltoallv(Exchange const& exchange, CompileContext const& context) {
    std::size_t const ranks = context.group(exchange.group).members.size();
    return prepare_collective(Call{{dense_side<Count, Offset>(exchange.send, context.send_base(exchange), ranks),
                                    dense_side<Count, Offset>(exchange.recv, context.recv_base(exchange), ranks)},
                                   context.comm(exchange.group)},
                              context.concurrent);
}

PreparedCall compile_alltoallv(Operation const& operation, CompileContext const& context) {
    auto const& exchange = std::get<Exchange>(operation);
    if (!context.large || (context.in_place && large_count_calls() == nullptr)) {  // its own counts fit
        return prepare_alltoallv<Alltoallv, int, int>(exchange, context);
    }
    return large_count_calls() != nullptr ? prepare_alltoallv<LargeAlltoallv, MPI_Count, MPI_Aint>(exchange, context)
                                          : isend_irecv().compile(operation, context);
}

std::string alltoallw_refusal(Operation const& operation, Plan const& /*plan*/, ChosenMethod const& /*method*/,
                              CallLimits const& limits) {
    auto const& exchange = std::get<Exchange>(operation);
    if (!exchange.scattered) {
        return "";
    }
    Bytes const row_bytes = exchange.scattered->row_bytes;
    auto const fits = [&](Block const& block) { return block.bytes / row_bytes <= limits.call_bytes; };
    bool const all_fit = row_bytes <= limits.call_bytes &&
                         std::all_of(exchange.send.begin(), exchange.send.end(), fits) &&
                         std::all_of(exchange.recv.begin(), exchange.recv.end(), fits);
    return all_fit ? "" : "a datatype has at most 2^31 - 1 rows of as many bytes";
}

PreparedCall compile_alltoallw(Operation const& operation, CompileContext const& context) {
    auto const& exchange = std::get<Exchange>(operation);
    std::size_t const ranks = context.group(exchange.group).members.size();
    if (exchange.scattered) {
        ScatteredRows const& rows = *exchange.scattered;
        return prepare_collective(
            Alltoallw{{exchange.send, context.send_base(exchange), ranks, rows.sent, rows.row_bytes},
                      {exchange.recv, context.recv_base(exchange), ranks, rows.received, rows.row_bytes},
                      context.comm(exchange.group)},
            context.concurrent);
    }
    return prepare_collective(Alltoallw{{exchange.send, context.send_base(exchange), ranks, context},
                                        {exchange.recv, context.recv_base(exchange), ranks, context},
                                        context.comm(exchange.group)},
                              context.concurrent);
}

CountsAndOffsets<int, int> sparse_side(std::vector<Block> const& blocks, std::byte* base) {
    CountsAndOffsets<int, int> side{base, {}, {}};
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

PreparedCall compile_neighbor(Operation const& operation, CompileContext const& context) {
    if (context.large) {
        return isend_irecv().compile(operation, context);
    }
    auto const& exchange = std::get<Exchange>(operation);
    std::vector<int> const sources = peers_of(exchange.recv);
    std::vector<int> const targets = peers_of(exchange.send);
    MPI_Comm graph = MPI_COMM_NULL;
    check(MPI_Dist_graph_create_adjacent(context.comm(exchange.group), static_cast<int>(sources.size()), sources.data(),
                                         MPI_UNWEIGHTED, static_cast<int>(targets.size()), targets.data(),
                                         MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &graph),
          "MPI_Dist_graph_create_adjacent");
    return prepare_collective(NeighborAlltoallv{{sparse_side(exchange.send, context.send_base(exchange)),
                                                 sparse_side(exchange.recv, context.recv_base(exchange))},
                                                Communicator(graph)},
                              context.concurrent);
}

}  // namespace

Method alltoall() {
    return {.info = {"alltoall", "one MPI_Alltoall per exchange", {OperationKind::exchange}, "", true},
            .compile = compile_alltoall,
            .refusal = alltoall_refusal,
            .whole_exchanges = true,
            .in_place = true};
}

Method alltoallv() {
    return {.info = {"alltoallv", "one MPI_Alltoallv per exchange", {OperationKind::exchange}},
            .compile = compile_alltoallv,
            .in_place = true};
}

Method alltoallw() {
    return {.info = {.name = "alltoallw",
                     .description = "one MPI_Alltoallw per exchange",
                     .operations = {OperationKind::exchange},
                     .scattered = true},
            .compile = compile_alltoallw,
            .refusal = alltoallw_refusal};
}

// Each of its calls has a communicator, so a staged exchange is not cut into several.
Method neighbor() {
    return {.info = {"neighbor",
                     "MPI_Neighbor_alltoallv on a graph communicator of the exchange's peers",
                     {OperationKind::exchange}},
            .compile = compile_neighbor,
            .whole_exchanges = true};
}

}  // namespace dlmb::mpi
