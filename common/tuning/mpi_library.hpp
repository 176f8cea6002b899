// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "common/tuning/envelope.hpp"

#include <string_view>

namespace dlmb::tuning {

/// "Open MPI" 4.1.4 of what MPI_Get_library_version says: "Open MPI v4.1.4, package: ...", "MPICH Version: 4.0.2".
[[nodiscard]] MpiLibrary mpi_library(std::string_view told);

}  // namespace dlmb::tuning
