// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

namespace dlmb::mpi {

/// The files that Open MPI took settings from at its start, the most important first, joined with ','; empty where the
/// library has none, as MPICH. Within the life of MPI.
[[nodiscard]] std::string parameter_files();

}  // namespace dlmb::mpi
