// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// May a device pointer reach MPI? It must be known before the call: a library that does not expect one crashes in it,
// and no error handler helps.
#pragma once

#include "common/backend_kit/backend.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace dlmb::mpi {

/// The MPI library's own answer about device memory.
struct DeviceQuery {
    std::string_view function;   // that was asked; empty: there is none
    std::optional<bool> answer;  // buffers of MPI calls may lie on a CUDA device
    /// Also those of MPI_Iallreduce, MPI_Ireduce_scatter_block and their persistent forms, where the others may.
    bool nonblocking_reductions = true;
};

/// CMake builds device_query_openmpi.cpp, device_query_mpich.cpp or device_query_absent.cpp, by the function that the
/// library has.
[[nodiscard]] DeviceQuery query_device_support();

/// The info key `mpi_memory_alloc_kinds` of MPI_COMM_WORLD (MPI 4.1, section 11.4.3), for example
/// "mpi,system,cuda:device"; nothing: the library does not set it.
[[nodiscard]] std::optional<std::string> memory_alloc_kinds();

/// Whether device pointers are given, by the option "device": auto (or nothing), yes, no. nullopt: if the library says
/// that it takes them. Throws UsageError.
[[nodiscard]] std::optional<bool> device_pointers(std::string_view word);

/// All that is known about this rank's library.
struct DeviceAnswers {
    std::optional<bool> wanted;  // by the user
    DeviceQuery query;
    std::optional<std::string> alloc_kinds;
};

/// direct: MPI is given device pointers. Otherwise payload on a device is staged through host memory.
struct DevicePath {
    bool direct = false;
    std::string reason;
    bool operator==(DevicePath const&) const = default;
};

/// The first that answers decides: the user, the library's query, the memory kinds it names. Without any answer: no.
[[nodiscard]] DevicePath decide(DeviceAnswers const& answers);

/// Collective. Direct only where it is on every rank; the reason is that of the lowest rank that refuses.
[[nodiscard]] DevicePath path_of_all(DevicePath const& own, Bootstrap& bootstrap);

}  // namespace dlmb::mpi
