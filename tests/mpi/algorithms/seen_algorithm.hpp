// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Which algorithm an allreduce really ran by, as seen from below MPI. One file per library: seen_algorithm_openmpi.cpp
// stands before the functions of the algorithms, seen_algorithm_mpich.cpp counts messages.
#pragma once

#include <string>

namespace dlmb::mpi {

/// Forgets what this rank has seen.
void watch_allreduce();
/// The library's name of the algorithm of the one allreduce since then, over `ranks` ranks, a power of two; for one
/// that is not among those of the test, anything that is not one of their names.
[[nodiscard]] std::string seen_allreduce(int ranks);

}  // namespace dlmb::mpi
