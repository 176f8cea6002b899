// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/backends/mpi/methods.hpp"

#include "common/backends/mpi/persistent_api.hpp"
#include "common/base/error.hpp"
#include "common/base/parse_whole.hpp"
#include "common/base/suggest.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <iterator>

namespace dlmb::mpi {
namespace {

constexpr std::string_view window_knob = "max_outstanding";

constexpr OperationSet exchange_only{OperationKind::exchange};
constexpr OperationSet exchange_and_messages{OperationKind::exchange, OperationKind::send, OperationKind::recv};
constexpr OperationSet collectives{OperationKind::all_reduce, OperationKind::reduce_scatter, OperationKind::all_gather,
                                   OperationKind::broadcast};
constexpr OperationSet all_collectives{OperationKind::exchange, OperationKind::all_reduce,
                                       OperationKind::reduce_scatter, OperationKind::all_gather,
                                       OperationKind::broadcast};

// In the order of MethodId, and last the two that are no native calls of their own.
constexpr std::size_t direct_count = 8;
constexpr std::size_t staged_row = direct_count;
constexpr std::array<MethodInfo, direct_count + 2> table{{
    {"alltoall", "one MPI_Alltoall per exchange", exchange_only, "", true},
    {"alltoallv", "one MPI_Alltoallv per exchange", exchange_only},
    {"isend_irecv", "MPI_Irecv from and MPI_Isend to every peer, one MPI_Waitall", exchange_and_messages},
    {"pairwise", "MPI_Irecv and MPI_Isend in rotated rounds, a window of them in flight", exchange_only,
     "max_outstanding=N (rounds, default 1)"},
    {"neighbor", "MPI_Neighbor_alltoallv on a graph communicator of the exchange's peers", exchange_only},
    {"blocking", "MPI_Allreduce, MPI_Reduce_scatter_block, MPI_Allgather, MPI_Bcast", collectives},
    {"nonblocking", "MPI_Iallreduce and its like, MPI_Ialltoallv, and a wait", all_collectives},
    {"persistent", "requests made at set-up (MPI_Send_init, MPI_Allreduce_init ...), MPI_Startall and MPI_Waitall",
     every_operation},
    {"staged", "memory of a device copied through pinned host memory, in chunks, for any of the others",
     every_operation, "by=METHOD (of the native calls), chunk=BYTES (default 2M)"},
    {algorithm_method, "the blocking calls by an algorithm that the library has for them", all_collectives,
     "CALL=NAME (what this library offers)"},
}};

constexpr Bytes default_chunk = Bytes{2} << 20;
constexpr Bytes smallest_chunk = 4096;

int read_window(std::string_view text) {
    int const value = parse_whole<int>(text).value_or(0);
    if (value < 1) {
        throw UsageError(fmt::format("--method pairwise:max_outstanding={}: expected a whole number from 1 up", text));
    }
    return value;
}

std::size_t row_of(std::string_view name, std::size_t rows) {
    auto const* const end = table.begin() + rows;
    auto const* const found = std::find_if(table.begin(), end, [&](MethodInfo const& row) { return row.name == name; });
    if (found == end) {
        std::vector<std::string> known;
        std::transform(table.begin(), end, std::back_inserter(known),
                       [](MethodInfo const& row) { return std::string(row.name); });
        throw UsageError(unknown_name("mpi method", name, known));
    }
    return static_cast<std::size_t>(found - table.begin());
}

Bytes read_chunk(std::string_view text) {
    Bytes const bytes = parse_bytes(text, "--method staged:chunk");
    if (bytes < smallest_chunk) {
        throw UsageError(fmt::format("--method staged:chunk={}: expected at least {} bytes", text, smallest_chunk));
    }
    return bytes;
}

/// False: the method has no such knob.
bool turn_knob(Method& method, std::string_view knob, std::string_view value) {
    if (method.staged && knob == "by") {
        method.id = static_cast<MethodId>(row_of(value, direct_count));
    } else if (method.staged && knob == "chunk") {
        method.chunk_bytes = read_chunk(value);
    } else if (method.id == MethodId::pairwise && knob == window_knob) {
        method.max_outstanding = read_window(value);
    } else {
        return method.by_algorithm() && turn_algorithm_knob(method.algorithms, knob, value);
    }
    return true;
}

}  // namespace

std::span<MethodInfo const> method_table() {
    static std::array<MethodInfo, table.size()> const offered = [] {
        std::array<MethodInfo, table.size()> rows = table;
        if (persistent_api() == nullptr) {
            rows[static_cast<std::size_t>(MethodId::persistent)].operations = exchange_and_messages;
        }
        return rows;
    }();
    return offered;
}

std::span<MethodInfo const> plain_methods() {
    return method_table().first(direct_count + 1);
}

std::span<MethodInfo const> direct_methods() {
    return method_table().first(direct_count);
}

std::span<MethodInfo const> staged_method() {
    return method_table().subspan(staged_row, 1);
}

Method read_method(MethodChoice const& choice, std::string_view by_default) {
    // Each kind of operation has its own default in NativeTranslator; the name is that of the commonest.
    std::size_t const row = row_of(choice.name == "default" ? by_default : choice.name, table.size());
    Method method{static_cast<MethodId>(row), table[row].name};
    if (row >= direct_count) {
        method.id = MethodId::alltoallv;
    }
    if (row == staged_row) {
        method.staged = true;
        method.chunk_bytes = default_chunk;
    }
    for (auto const& [knob, value] : choice.knobs) {  // in alphabetical order: "by" before what it brings
        if (!turn_knob(method, knob, value)) {
            throw UsageError(fmt::format("--method {}: unknown knob '{}'; {}", to_string(choice), knob,
                                         table[row].knobs.empty()
                                             ? fmt::format("mpi {} has none", method.name)
                                             : fmt::format("mpi {} has {}", method.name, table[row].knobs)));
        }
    }
    if (method.algorithms.exchange_call() == CollectiveCall::alltoall) {
        method.id = MethodId::alltoall;
    }
    return method;
}

}  // namespace dlmb::mpi
