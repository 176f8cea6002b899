// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/backends/mpi/methods.hpp"

#include "common/base/error.hpp"
#include "common/formats/plan/group_index.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <iterator>

namespace dlmb::mpi {

// Each is defined in the file of its native calls.
Method accumulate();
Method algorithm();
Method alltoall();
Method alltoallw();
Method blocking();
Method get();
Method neighbor();
Method nonblocking();
Method pairwise();
Method persistent();
Method put();
Method reproducible();
Method staged();
Method threads();

namespace {

/// The first row that has an operation, and takes all blocks of it, is the default for it.
std::span<Method const> rows() {
    static std::array const table{
        alltoall(),   alltoallv(), alltoallw(), blocking(),   isend_irecv(),  pairwise(), neighbor(),  nonblocking(),
        persistent(), put(),       get(),       accumulate(), reproducible(), staged(),   algorithm(), threads(),
    };
    return table;
}

std::size_t count_before(MethodKind kind) {
    return static_cast<std::size_t>(
        std::count_if(rows().begin(), rows().end(), [&](Method const& row) { return row.kind < kind; }));
}

// The non-blocking MPI_Ialltoallv of Open MPI 4.1 takes equal addresses for MPI_IN_PLACE and then hangs, and a buffer
// of 0 bytes may lie where the other one begins, or be the same.
std::byte nothing_sent[1];
std::byte nothing_received[1];

}  // namespace

int CompileContext::me(GroupId id) const {
    return rank_in(group(id), plan.me).value();
}

std::byte* CompileContext::send_base(Exchange const& exchange) const {
    if (in_place) {
        return static_cast<std::byte*>(MPI_IN_PLACE);
    }
    return exchange.send.empty() ? nothing_sent : buffers->base[exchange.send_buffer];
}

std::byte* CompileContext::recv_base(Exchange const& exchange) const {
    return exchange.recv.empty() ? nothing_received : buffers->base[exchange.recv_buffer];
}

int CompileContext::next_tag(MPI_Comm comm) const {
    constexpr int existing = 32768;  // every MPI library has at least these
    return (*tags)[comm]++ % existing;
}

std::span<MethodInfo const> method_table() {
    static std::vector<MethodInfo> const infos = [] {
        std::vector<MethodInfo> table;
        std::transform(rows().begin(), rows().end(), std::back_inserter(table),
                       [](Method const& row) { return row.info; });
        return table;
    }();
    return infos;
}

std::size_t count_of_plain_methods() {
    return count_before(MethodKind::algorithm);
}

std::size_t count_of_direct_methods() {
    return count_before(MethodKind::staged);
}

Method const& find_method(std::string_view name) {
    return rows()[dlmb::find_method(method_table(), "mpi", name)];
}

Method const& find_direct_method(std::string_view name) {
    return rows()[dlmb::find_method(method_table().first(count_of_direct_methods()), "mpi", name)];
}

ChosenMethod read_method(MethodChoice const& choice, std::string_view by_default) {
    Method const& row = find_method(choice.name == "default" ? by_default : choice.name);
    bool const own_calls = row.kind == MethodKind::direct || row.kind == MethodKind::threads;
    ChosenMethod method{&row, own_calls ? &row : &find_method("alltoallv")};
    for (auto const& [knob, value] : choice.knobs) {  // in alphabetical order: "by" before what it brings
        if (row.read_knob == nullptr || !row.read_knob(method, knob, value)) {
            throw_unknown_knob("mpi", row.info, choice, knob);
        }
    }
    return method;
}

Method const& row_for(Method const& method, OperationKind kind) {
    if (method.info.operations.has(kind)) {
        return method;
    }
    auto const found = std::find_if(rows().begin(), rows().end(), [&](Method const& row) {
        return row.info.operations.has(kind) && !row.info.uniform_only;
    });
    if (found == rows().end()) {
        throw Error(fmt::format("mpi: {} is no native call", name_of(kind)));
    }
    return *found;
}

PreparedCall compile_by(Method const& method, Operation const& operation, CompileContext const& context) {
    return row_for(method, kind_of(operation)).compile(operation, context);
}

}  // namespace dlmb::mpi
