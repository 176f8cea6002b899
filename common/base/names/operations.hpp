// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// The operations, and what each is called: by this suite, by MPI, NCCL and PyTorch. One row per operation and one per
// call of MPI, which has two for most operations whose ranks have parts.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace dlmb {

enum class OperationKind : std::uint8_t {
    exchange,
    send,
    recv,
    all_reduce,
    reduce,
    reduce_scatter,
    all_gather,
    gather,
    scatter,
    broadcast,
    barrier,
    put,
    wait_signal,
    offer,
    get,
    compute
};

/// Which side of a collective the root has alone.
enum class RootRole : std::uint8_t { none, sends, receives };
/// Which side of a collective has one part per rank of the whole buffer that the other side has.
enum class PartSide : std::uint8_t { none, sent, received };

struct OperationFacts {
    OperationKind kind;
    std::string_view name;   // in plan files and result lines
    std::string_view nccl;   // NCCL's function without its prefix; empty: none
    std::string_view torch;  // torch.distributed's function; empty: none
    bool reduces = false;
    RootRole root = RootRole::none;
    PartSide parts = PartSide::none;
};

/// By OperationKind.
inline constexpr std::array<OperationFacts, 16> operation_table{{
    {OperationKind::exchange, "exchange", "AlltoAll", "all_to_all"},
    {OperationKind::send, "send", "Send", "send"},
    {OperationKind::recv, "recv", "Recv", "recv"},
    {OperationKind::all_reduce, "allreduce", "AllReduce", "all_reduce", true},
    {OperationKind::reduce, "reduce", "Reduce", "reduce", true, RootRole::receives},
    {OperationKind::reduce_scatter, "reduce_scatter", "ReduceScatter", "reduce_scatter", true, RootRole::none,
     PartSide::received},
    {OperationKind::all_gather, "allgather", "AllGather", "all_gather", false, RootRole::none, PartSide::sent},
    {OperationKind::gather, "gather", "Gather", "gather", false, RootRole::receives, PartSide::sent},
    {OperationKind::scatter, "scatter", "Scatter", "scatter", false, RootRole::sends, PartSide::received},
    {OperationKind::broadcast, "broadcast", "Broadcast", "broadcast", false, RootRole::sends},
    {OperationKind::barrier, "barrier", "", "barrier"},
    {OperationKind::put, "put", "PutSignal", ""},
    {OperationKind::wait_signal, "wait_signal", "WaitSignal", ""},
    {OperationKind::offer, "offer", "", ""},
    {OperationKind::get, "get", "", ""},
    {OperationKind::compute, "compute", "", ""},
}};

[[nodiscard]] constexpr OperationFacts const& facts_of(OperationKind kind) {
    return operation_table.at(static_cast<std::size_t>(kind));
}

[[nodiscard]] constexpr std::string_view name_of(OperationKind kind) {
    return facts_of(kind).name;
}
/// Nothing for a name that no operation has.
[[nodiscard]] constexpr std::optional<OperationKind> operation_kind_named(std::string_view name) {
    for (OperationFacts const& facts : operation_table) {
        if (facts.name == name) {
            return facts.kind;
        }
    }
    return std::nullopt;
}

[[nodiscard]] constexpr bool reduces(OperationKind kind) {
    return facts_of(kind).reduces;
}
[[nodiscard]] constexpr bool has_root(OperationKind kind) {
    return facts_of(kind).root != RootRole::none;
}
[[nodiscard]] constexpr bool has_parts(OperationKind kind) {
    return facts_of(kind).parts != PartSide::none;
}
/// One end of a message between two ranks.
[[nodiscard]] constexpr bool is_message(OperationKind kind) {
    return kind == OperationKind::send || kind == OperationKind::recv;
}

/// MPI's blocking collectives that this suite calls or reads of.
enum class MpiCall : std::uint8_t {
    allreduce,
    reduce,
    reduce_scatter,
    reduce_scatter_block,
    allgather,
    allgatherv,
    gather,
    gatherv,
    scatter,
    scatterv,
    bcast,
    barrier,
    alltoall,
    alltoallv
};

/// Which steps of its operation a call is for.
enum class CallParts : std::uint8_t { any, equal, named };

struct MpiCallFacts {
    MpiCall call;
    std::string_view name;  // in lower case, without its prefix
    OperationKind operation;
    CallParts parts = CallParts::any;
};

/// By MpiCall.
inline constexpr std::array<MpiCallFacts, 14> mpi_call_table{{
    {MpiCall::allreduce, "allreduce", OperationKind::all_reduce},
    {MpiCall::reduce, "reduce", OperationKind::reduce},
    {MpiCall::reduce_scatter, "reduce_scatter", OperationKind::reduce_scatter, CallParts::named},
    {MpiCall::reduce_scatter_block, "reduce_scatter_block", OperationKind::reduce_scatter, CallParts::equal},
    {MpiCall::allgather, "allgather", OperationKind::all_gather, CallParts::equal},
    {MpiCall::allgatherv, "allgatherv", OperationKind::all_gather, CallParts::named},
    {MpiCall::gather, "gather", OperationKind::gather, CallParts::equal},
    {MpiCall::gatherv, "gatherv", OperationKind::gather, CallParts::named},
    {MpiCall::scatter, "scatter", OperationKind::scatter, CallParts::equal},
    {MpiCall::scatterv, "scatterv", OperationKind::scatter, CallParts::named},
    {MpiCall::bcast, "bcast", OperationKind::broadcast},
    {MpiCall::barrier, "barrier", OperationKind::barrier},
    {MpiCall::alltoall, "alltoall", OperationKind::exchange, CallParts::equal},
    {MpiCall::alltoallv, "alltoallv", OperationKind::exchange},
}};

[[nodiscard]] constexpr MpiCallFacts const& facts_of(MpiCall call) {
    return mpi_call_table.at(static_cast<std::size_t>(call));
}
static_assert([] {
    bool in_order = true;
    for (std::size_t row = 0; row < operation_table.size(); ++row) {
        in_order = in_order && operation_table[row].kind == static_cast<OperationKind>(row);
    }
    for (std::size_t row = 0; row < mpi_call_table.size(); ++row) {
        in_order = in_order && mpi_call_table[row].call == static_cast<MpiCall>(row);
    }
    return in_order;
}());
[[nodiscard]] constexpr std::string_view name_of(MpiCall call) {
    return facts_of(call).name;
}
/// The call for equal parts, or the one for parts that the step names; nothing: MPI has no collective for it.
[[nodiscard]] constexpr std::optional<MpiCall> mpi_call_for(OperationKind kind, bool equal_parts) {
    for (MpiCallFacts const& facts : mpi_call_table) {
        if (facts.operation == kind &&
            (facts.parts == CallParts::any || (facts.parts == CallParts::equal) == equal_parts)) {
            return facts.call;
        }
    }
    return std::nullopt;
}

}  // namespace dlmb
