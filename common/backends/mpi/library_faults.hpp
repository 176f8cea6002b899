// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Faults of versions of MPI libraries against the standard. Such steps are refused: a benchmark that ends
// with a fault, or delivers wrong bytes, says nothing.
#pragma once

#include "common/bootstrap/mpi/mpi_check.hpp"

#include <mpi.h>

#include <array>
#include <string_view>

namespace dlmb::mpi {

/// Whether MPI_Get_library_version begins with `name` and goes on with one character that is below `version`.
[[nodiscard]] inline bool library_is_older(std::string_view name, char version) {
    std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> text{};
    int length = 0;
    check(MPI_Get_library_version(text.data(), &length), "MPI_Get_library_version");
    std::string_view const found(text.data(), static_cast<std::size_t>(length));
    return found.size() > name.size() && found.starts_with(name) && found[name.size()] < version;
}

/// open-mpi/ompi issue 9492: before 5.0 osc/rdma names the shared memory of a window by the number of its communicator,
/// which groups without a common rank share.
[[nodiscard]] inline bool mixes_up_windows() {
    return library_is_older("Open MPI v", '5');
}

/// MPICH 4.0 reads from the address MPI_IN_PLACE where the root of MPI_Reduce is not rank 0 (seen with 4.0.2, 4 KiB,
/// two and three ranks).
[[nodiscard]] inline bool reduces_in_place_to_first_rank_only() {
    return library_is_older("MPICH Version:\t4.", '1');
}

}  // namespace dlmb::mpi
