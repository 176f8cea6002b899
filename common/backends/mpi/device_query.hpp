// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// What the MPI library itself says about device memory. CMake builds device_query_openmpi.cpp, device_query_mpich.cpp
// or device_query_absent.cpp, by the function that the library has.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace dlmb::mpi {

struct DeviceQuery {
    std::string_view function;   // that was asked; empty: there is none
    std::optional<bool> answer;  // buffers of MPI calls may lie on a CUDA device
};

[[nodiscard]] DeviceQuery query_device_support();

/// Also MPI_Iallreduce, MPI_Ireduce_scatter_block and their persistent forms, where the others do.
[[nodiscard]] bool nonblocking_reductions_take_device_memory();

/// The info key `mpi_memory_alloc_kinds` of MPI_COMM_WORLD (MPI 4.1, section 11.4.3), for example
/// "mpi,system,cuda:device"; nothing: the library does not set it.
[[nodiscard]] std::optional<std::string> memory_alloc_kinds();

}  // namespace dlmb::mpi
