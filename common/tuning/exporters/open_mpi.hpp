// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Ids and names of the algorithms of Open MPI's coll/tuned, by version. Source: the MPI_T enums
// coll_tuned_*_algorithm of 4.1.4 (ompi_info --param coll tuned --level 9), coll_tuned_*_decision.c of 5.0.8 and main.
#pragma once

#include "common/tuning/exporters/mpi_collective.hpp"

#include <optional>
#include <string_view>

namespace dlmb::tuning {

/// COLLID of a rules file (coll_base_functions.h, COLLTYPE).
[[nodiscard]] int open_mpi_id(MpiCollective collective);
/// Nothing: this version has no such algorithm.
[[nodiscard]] std::optional<int> open_mpi_id(MpiCollective collective, std::string_view algorithm,
                                             LibraryVersion version);
/// Empty, or why the algorithm does not run for some of these numbers of ranks. coll/tuned returns an error or runs
/// another one without saying so.
[[nodiscard]] std::string_view open_mpi_obstacle(std::string_view algorithm, CountInterval ranks);

}  // namespace dlmb::tuning
