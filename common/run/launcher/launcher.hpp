// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Runs ranks as MPI processes when an MPI launcher started this program. launcher_mpi.cpp or, in builds without MPI,
// launcher_absent.cpp.
#pragma once

#include "common/bootstrap/bootstrap.hpp"

#include <functional>
#include <string_view>

namespace dlmb::run {

[[nodiscard]] bool mpi_in_this_build();

/// Before run_under_launcher: has the MPI library let its algorithms be chosen (algorithm_method). It decides a little
/// differently then, so that this is only for launches that ask for it.
void offer_library_algorithms();

/// The level at which a user's program has MPI unless it asks for more: MPI_Init.
inline constexpr std::string_view default_mpi_thread = "single";

/// Runs one rank, given its bootstrap and the time of MPI's initialisation. Returns an exit code.
using LaunchBody = std::function<int(Bootstrap&, Nanoseconds mpi_init_ns)>;

/// Initialises MPI at `thread_level` (MpiSession), runs `body`, finalises, and returns what body returned. Throws
/// UsageError when the launcher and the MPI library do not belong together (every process would be alone in its world),
/// or when the library does not provide the level.
[[nodiscard]] int run_under_launcher(int argc, char** argv, std::string_view thread_level, LaunchBody const& body);

}  // namespace dlmb::run
