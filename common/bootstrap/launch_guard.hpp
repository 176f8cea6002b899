// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Reads the launcher's variables before MPI is asked, and checks that launcher and MPI library fit. A mismatch makes N
// processes that each believe to be rank 0 of 1 and exit with success. Pure functions over the variables; needs no MPI.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace dlmb {

using LauncherVariables = std::map<std::string, std::string, std::less<>>;

/// All of this process, as they are now. Read before MPI_Init: an Open MPI singleton sets PMIX_RANK itself.
[[nodiscard]] LauncherVariables read_launcher_variables();

struct LauncherInfo {
    std::string name;               // "Open MPI's mpirun", "Hydra's mpiexec", "srun"; empty: none
    int ranks = 0;                  // processes it started; 0: it does not say
    std::optional<int> rank;        // of this process, where the launcher says it unambiguously
    std::optional<int> local_rank;  // on this node; for choosing a device before MPI_Init
};
[[nodiscard]] LauncherInfo launcher_info(LauncherVariables const& variables);

/// Whether a launcher started this process as one of a job, so that MPI has to be initialised.
[[nodiscard]] bool started_by_launcher(LauncherVariables const& variables);

/// Texts for a UsageError; empty: go on. `library` is mpi_library_version().
[[nodiscard]] std::string refusal_before_init(LauncherVariables const& variables, std::string_view library);
[[nodiscard]] std::string refusal_after_init(LauncherVariables const& variables, std::string_view library,
                                             int mpi_size);

/// Among Bootstrap::facts(): the files that the MPI library took settings from, joined with ','. Their paths name
/// users, so it is no fact for the record.
inline constexpr std::string_view parameter_files_fact = "parameter_files";

/// Differences that do not stop a launch but belong in its record; empty: none.
[[nodiscard]] std::string launch_warning(LauncherVariables const& variables, int mpi_size, int mpi_local_rank);

}  // namespace dlmb
