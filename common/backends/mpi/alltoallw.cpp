// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Method alltoallw: one MPI_Alltoallw per exchange, which has a datatype for each peer. Where a size or displacement is
// beyond int, the block of a peer is one element of a derived datatype that holds its place and its length.
#include "common/backends/mpi/methods.hpp"

#include <algorithm>

namespace dlmb::mpi {
namespace {

/// Derived datatypes that are freed with their owner.
class Datatypes {
public:
    Datatypes() = default;
    Datatypes(Datatypes const&) = delete;
    Datatypes& operator=(Datatypes const&) = delete;
    Datatypes(Datatypes&&) noexcept = default;
    Datatypes& operator=(Datatypes&&) = delete;
    ~Datatypes() {
        int finalized = 0;
        MPI_Finalized(&finalized);
        for (MPI_Datatype& type : made_) {
            if (finalized == 0 && type != MPI_DATATYPE_NULL) {
                MPI_Type_free(&type);
            }
        }
    }

    /// The bytes of `block` in pieces that a length of type int can hold. Its place is that of the datatype.
    [[nodiscard]] MPI_Datatype of(Block const& block, Bytes piece) {
        std::vector<int> lengths;
        std::vector<MPI_Aint> offsets;
        for (Bytes first = 0; first < block.bytes; first += piece) {
            lengths.push_back(static_cast<int>(std::min(piece, block.bytes - first)));
            offsets.push_back(static_cast<MPI_Aint>(block.offset + first));
        }
        MPI_Datatype& type = made_.emplace_back(MPI_DATATYPE_NULL);
        check(
            MPI_Type_create_hindexed(static_cast<int>(lengths.size()), lengths.data(), offsets.data(), MPI_BYTE, &type),
            "MPI_Type_create_hindexed");
        check(MPI_Type_commit(&type), "MPI_Type_commit");
        return type;
    }

private:
    std::vector<MPI_Datatype> made_;
};

/// What is sent or what is received, by rank; ranks without a block have a count of 0.
struct TypedSide {
    TypedSide(std::vector<Block> const& blocks, std::byte* buffer, std::size_t ranks, CompileContext const& context)
        : base(buffer), counts(ranks), offsets(ranks), types(ranks, MPI_BYTE) {
        for (Block const& block : blocks) {
            auto const peer = static_cast<std::size_t>(block.peer);
            if (context.large) {
                counts[peer] = 1;
                types[peer] = derived.of(block, context.limits.chunk_bytes);
            } else {
                counts[peer] = static_cast<int>(block.bytes);
                offsets[peer] = static_cast<int>(block.offset);
            }
        }
    }

    std::byte* base;
    std::vector<int> counts;
    std::vector<int> offsets;  // in bytes
    std::vector<MPI_Datatype> types;
    Datatypes derived;
};

struct Alltoallw {
    void blocking() const {
        check(MPI_Alltoallw(send.base, send.counts.data(), send.offsets.data(), send.types.data(), recv.base,
                            recv.counts.data(), recv.offsets.data(), recv.types.data(), comm),
              "MPI_Alltoallw");
    }
    void nonblocking(MPI_Request& request) const {
        check(MPI_Ialltoallw(send.base, send.counts.data(), send.offsets.data(), send.types.data(), recv.base,
                             recv.counts.data(), recv.offsets.data(), recv.types.data(), comm, &request),
              "MPI_Ialltoallw");
    }

    TypedSide send;
    TypedSide recv;
    MPI_Comm comm;
};

PreparedCall compile_alltoallw(Operation const& operation, CompileContext const& context) {
    auto const& exchange = std::get<Exchange>(operation);
    std::size_t const ranks = context.group(exchange.group).members.size();
    return prepare_collective(Alltoallw{{exchange.send, context.send_base(exchange), ranks, context},
                                        {exchange.recv, context.recv_base(exchange), ranks, context},
                                        context.comm(exchange.group)},
                              context.concurrent);
}

}  // namespace

Method alltoallw() {
    return {.info = {"alltoallw", "one MPI_Alltoallw per exchange", {OperationKind::exchange}},
            .compile = compile_alltoallw};
}

}  // namespace dlmb::mpi
