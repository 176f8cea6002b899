// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// A method is one file, which defines a function that returns its row, and one line of the table in methods.cpp.
#pragma once

#include "common/backend_kit/backend.hpp"
#include "common/backends/mpi/algorithm_catalogue.hpp"
#include "common/backends/mpi/communicators.hpp"
#include "common/backends/mpi/mpi_backend.hpp"
#include "common/backends/mpi/prepared_call.hpp"
#include "common/backends/mpi/staging.hpp"
#include "common/backends/mpi/window.hpp"

#include <map>

namespace dlmb::mpi {

struct Method;
class SignalBoard;

/// How both sides of a one-sided access know when it may begin and when it is done: the synchronizations of OSU's
/// one-sided benchmarks.
enum class OneSidedSync : std::uint8_t { flush, lock, lock_all, fence, pscw };

/// A method and its knobs, as the command line gives them.
struct ChosenMethod {
    Method const* row = nullptr;
    Method const* calls = nullptr;            // makes the native calls; another row for `staged` and `algorithm` only
    int max_outstanding = 1;                  // pairwise
    Bytes chunk_bytes = Bytes{2} << 20;       // staged
    LibraryAlgorithms algorithms = {};        // algorithm
    OneSidedSync sync = OneSidedSync::flush;  // put, get, accumulate
    bool allocate_windows = false;            // put, get, accumulate: in memory of the library
};

/// A step is compiled from these, besides its operation. All that it points to outlives it.
struct CompileContext {
    Plan const& plan;
    ChosenMethod const& method;
    GroupCommunicators const& communicators;  // prepared for the plan
    CallLimits const& limits;
    Buffers const* buffers;      // what the native calls are given
    DeviceQueues const* queues;  // of the device of the buffers; nullptr: they are host memory
    bool concurrent;             // on some rank steps overlap: all make non-blocking calls
    bool large;                  // some exchange of some rank has a count or displacement beyond int
    bool in_place;               // some exchange of some rank works in place; of a step: its call says MPI_IN_PLACE
    Idle idle;
    Buffers const* host_images = nullptr;         // of the buffers, for the method `staged`
    std::shared_ptr<StagingTurn> turn = nullptr;  // of the step, for the method `staged`
    std::map<MPI_Comm, int>* tags = nullptr;      // how many steps have one so far
    std::vector<Window>* windows = nullptr;       // of the plan, in the order in which all ranks make them
    std::string* failed = nullptr;                // why this rank lacks one of them; empty: it has all
    SignalBoard* board = nullptr;                 // of plans with puts

    [[nodiscard]] Group const& group(GroupId id) const { return plan.groups.at(id); }
    [[nodiscard]] int ranks(GroupId id) const { return static_cast<int>(group(id).members.size()); }
    [[nodiscard]] int me(GroupId id) const;
    [[nodiscard]] MPI_Comm comm(GroupId id) const { return communicators.of(group(id)); }
    [[nodiscard]] std::byte* address(Region const& region) const {
        return buffers->base[region.buffer] + region.offset;
    }
    [[nodiscard]] std::byte* send_base(Exchange const& exchange) const;
    [[nodiscard]] std::byte* recv_base(Exchange const& exchange) const;
    /// Copies self blocks on a device; nullptr: the buffers are host memory.
    [[nodiscard]] DeviceQueue const* self_copy_queue() const { return queues == nullptr ? nullptr : &queues->within; }
    /// Steps of a communicator may be in flight together, and `pairwise` posts their rounds interleaved.
    [[nodiscard]] int next_tag(MPI_Comm comm) const;
};

/// direct: the native calls are given the buffers of the plan. staged: images of them in host memory. algorithm: the
/// direct calls, by algorithms that the user names. threads: calls of several threads (threads.hpp).
enum class MethodKind : std::uint8_t { direct, staged, algorithm, threads };

struct Method {
    MethodInfo info;
    /// One step whose kind `info.operations` has. Collective where making the call is, and then the steps of a group
    /// come in one order on all ranks.
    PreparedCall (*compile)(Operation const& operation, CompileContext const& context) = nullptr;
    /// Why the method cannot do this step; empty: it can. nullptr: it can do all that an MPI library can.
    std::string (*refusal)(Operation const& operation, Plan const& plan, ChosenMethod const& method,
                           CallLimits const& limits) = nullptr;
    /// False: the method has no such knob. Throws UsageError for a wrong value. nullptr: it has none.
    bool (*read_knob)(ChosenMethod& method, std::string_view knob, std::string_view value) = nullptr;
    MethodKind kind = MethodKind::direct;
    bool whole_exchanges = false;         // an exchange cannot be cut into several calls
    bool nonblocking_reductions = false;  // never makes the blocking calls
    bool posts_later = false;             // its steps post more messages as they go on, so each has to be looked at
    bool one_sided = false;               // its steps have windows
    bool host_memory = false;             // the host reads and writes the payload itself
    bool in_place = false;                // its calls of exchanges take MPI_IN_PLACE
};

/// Operations that all members of a group do together.
inline constexpr OperationSet collective_operations{
    OperationKind::exchange,       OperationKind::all_reduce, OperationKind::reduce,
    OperationKind::reduce_scatter, OperationKind::all_gather, OperationKind::gather,
    OperationKind::scatter,        OperationKind::broadcast,  OperationKind::barrier};

// The rows that do a step for others. All rows are declared and listed in methods.cpp.
[[nodiscard]] Method alltoallv();
[[nodiscard]] Method isend_irecv();

/// The direct ones, then `staged`, `algorithm` and `threads`.
[[nodiscard]] std::span<MethodInfo const> method_table();
/// Methods that mean something without a knob: direct and staged.
[[nodiscard]] std::size_t count_of_plain_methods();
[[nodiscard]] std::size_t count_of_direct_methods();

/// Throws UsageError naming the nearest known methods.
[[nodiscard]] Method const& find_method(std::string_view name);
[[nodiscard]] Method const& find_direct_method(std::string_view name);

/// `by_default`: what "default" means. Throws UsageError naming the nearest known methods, or the knobs of the method.
[[nodiscard]] ChosenMethod read_method(MethodChoice const& choice, std::string_view by_default = "alltoallv");

/// `method` where it has the operation, otherwise the default for it.
[[nodiscard]] Method const& row_for(Method const& method, OperationKind kind);
[[nodiscard]] PreparedCall compile_by(Method const& method, Operation const& operation, CompileContext const& context);

}  // namespace dlmb::mpi
