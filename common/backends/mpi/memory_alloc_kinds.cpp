// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/backends/mpi/device_query.hpp"
#include "common/bootstrap/mpi/mpi_check.hpp"

#include <mpi.h>

#include <array>

namespace dlmb::mpi {

std::optional<std::string> memory_alloc_kinds() {
    MPI_Info info = MPI_INFO_NULL;
    check(MPI_Comm_get_info(MPI_COMM_WORLD, &info), "MPI_Comm_get_info");
    std::array<char, MPI_MAX_INFO_VAL + 1> value{};
    int found = 0;
    check(MPI_Info_get(info, "mpi_memory_alloc_kinds", MPI_MAX_INFO_VAL, value.data(), &found), "MPI_Info_get");
    check(MPI_Info_free(&info), "MPI_Info_free");
    return found != 0 ? std::optional<std::string>(value.data()) : std::nullopt;
}

}  // namespace dlmb::mpi
