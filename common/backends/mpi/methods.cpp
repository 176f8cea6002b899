// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/backends/mpi/methods.hpp"

#include "common/backends/mpi/persistent_api.hpp"
#include "common/base/error.hpp"
#include "common/base/suggest.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <charconv>

namespace dlmb::mpi {
namespace {

constexpr std::string_view window_knob = "max_outstanding";

constexpr OperationSet exchange{OperationKind::exchange};
constexpr OperationSet messages{OperationKind::exchange, OperationKind::send, OperationKind::recv};
constexpr OperationSet collectives{OperationKind::all_reduce, OperationKind::reduce_scatter, OperationKind::all_gather,
                                   OperationKind::broadcast};
constexpr OperationSet all_collectives{OperationKind::exchange, OperationKind::all_reduce,
                                       OperationKind::reduce_scatter, OperationKind::all_gather,
                                       OperationKind::broadcast};

// In the order of MethodId.
constexpr std::array<MethodInfo, 8> table{{
    {"alltoall", "one MPI_Alltoall per exchange", exchange, "", true},
    {"alltoallv", "one MPI_Alltoallv per exchange", exchange},
    {"isend_irecv", "MPI_Irecv from and MPI_Isend to every peer, one MPI_Waitall", messages},
    {"pairwise", "MPI_Irecv and MPI_Isend in rotated rounds, a window of them in flight", exchange,
     "max_outstanding=N (rounds, default 1)"},
    {"neighbor", "MPI_Neighbor_alltoallv on a graph communicator of the exchange's peers", exchange},
    {"blocking", "MPI_Allreduce, MPI_Reduce_scatter_block, MPI_Allgather, MPI_Bcast", collectives},
    {"nonblocking", "MPI_Iallreduce and its like, MPI_Ialltoallv, and a wait", all_collectives},
    {"persistent", "requests made at set-up (MPI_Send_init, MPI_Allreduce_init ...), MPI_Startall and MPI_Waitall",
     every_operation},
}};

int read_window(std::string_view text) {
    int value = 0;
    auto const [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || stop != text.data() + text.size() || value < 1) {
        throw UsageError(fmt::format("--method pairwise:max_outstanding={}: expected a whole number from 1 up", text));
    }
    return value;
}

}  // namespace

std::span<MethodInfo const> method_table() {
    static std::array<MethodInfo, table.size()> const offered = [] {
        std::array<MethodInfo, table.size()> rows = table;
        if (persistent_api() == nullptr) {
            rows[static_cast<std::size_t>(MethodId::persistent)].operations = messages;
        }
        return rows;
    }();
    return offered;
}

Method read_method(MethodChoice const& choice) {
    // Each kind of operation has its own default in translate(); the name is that of the commonest.
    std::string_view const name = choice.name == "default" ? table[1].name : std::string_view(choice.name);
    auto const* const found =
        std::find_if(table.begin(), table.end(), [&](MethodInfo const& row) { return row.name == name; });
    if (found == table.end()) {
        std::vector<std::string> known;
        known.reserve(table.size());
        for (MethodInfo const& row : table) {
            known.emplace_back(row.name);
        }
        throw UsageError(unknown_name("mpi method", choice.name, known));
    }
    Method method{static_cast<MethodId>(found - table.begin()), found->name, 1};
    for (auto const& [knob, value] : choice.knobs) {
        if (method.id != MethodId::pairwise || knob != window_knob) {
            throw UsageError(fmt::format("--method {}: unknown knob '{}'; {}", to_string(choice), knob,
                                         found->knobs.empty()
                                             ? fmt::format("mpi {} has none", found->name)
                                             : fmt::format("mpi {} has {}", found->name, found->knobs)));
        }
        method.max_outstanding = read_window(value);
    }
    return method;
}

}  // namespace dlmb::mpi
