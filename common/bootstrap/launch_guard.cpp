// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/bootstrap/launch_guard.hpp"

#include <fmt/core.h>

#include <array>
#include <charconv>
#include <cstdlib>

namespace dlmb {
namespace {

// SLURM_PROCID is left out on purpose: it is a global rank, and stale (0 in every rank) inside a batch script.
constexpr std::array<char const*, 18> known_variables{"OMPI_COMM_WORLD_SIZE",
                                                      "OMPI_COMM_WORLD_RANK",
                                                      "OMPI_COMM_WORLD_LOCAL_RANK",
                                                      "PMIX_RANK",
                                                      "PMIX_NAMESPACE",
                                                      "PMI_SIZE",
                                                      "PMI_RANK",
                                                      "PMI_FD",
                                                      "PMI_LOCAL_RANK",
                                                      "MPI_LOCALRANKID",
                                                      "MPI_LOCALNRANKS",
                                                      "SLURM_MPI_TYPE",
                                                      "SLURM_STEP_ID",
                                                      "SLURM_STEP_NUM_TASKS",
                                                      "SLURM_LOCALID",
                                                      "SLURM_NTASKS",
                                                      "SLURM_JOB_ID",
                                                      "LOCAL_RANK"};

bool has(LauncherVariables const& variables, std::string_view name) {
    return variables.find(name) != variables.end();
}

std::optional<int> number(LauncherVariables const& variables, std::string_view name) {
    auto const found = variables.find(name);
    if (found == variables.end()) {
        return std::nullopt;
    }
    int value = 0;
    char const* const end = found->second.data() + found->second.size();
    auto const [stop, error] = std::from_chars(found->second.data(), end, value);
    if (error != std::errc{} || stop != end || value < 0) {
        return std::nullopt;
    }
    return value;
}

std::string_view text(LauncherVariables const& variables, std::string_view name) {
    auto const found = variables.find(name);
    return found == variables.end() ? std::string_view{} : std::string_view{found->second};
}

bool in_slurm_step(LauncherVariables const& variables) {
    return has(variables, "SLURM_STEP_ID");
}

bool is_open_mpi(std::string_view library) {
    return library.find("Open MPI") != std::string_view::npos;
}
bool is_mpich(std::string_view library) {
    return library.find("MPICH") != std::string_view::npos;
}

// An mpirun inside a batch script or an allocation sees Slurm's variables too, so its own are asked first.
std::string launcher_name(LauncherVariables const& variables) {
    if (has(variables, "OMPI_COMM_WORLD_SIZE")) {
        return "Open MPI's mpirun";
    }
    std::string_view const type = text(variables, "SLURM_MPI_TYPE");
    if (in_slurm_step(variables)) {
        return type.empty() ? "srun" : fmt::format("srun --mpi={}", type);
    }
    if (has(variables, "PMI_SIZE")) {
        return "Hydra's mpiexec";
    }
    return has(variables, "PMIX_RANK") ? "a PMIx launcher" : "";
}

std::string right_launcher(std::string_view library) {
    if (is_open_mpi(library)) {
        return "start it with Open MPI's mpirun, or under Slurm with srun --mpi=pmix";
    }
    if (is_mpich(library)) {
        return "start it with MPICH's mpiexec (Hydra), or under Slurm with srun --mpi=pmi2";
    }
    return "start it with the mpirun or mpiexec that belongs to this library";
}

}  // namespace

LauncherVariables read_launcher_variables() {
    LauncherVariables variables;
    for (char const* const name : known_variables) {
        if (char const* const value = std::getenv(name); value != nullptr) {
            variables.emplace(name, value);
        }
    }
    return variables;
}

LauncherInfo launcher_info(LauncherVariables const& variables) {
    bool const mpirun = has(variables, "OMPI_COMM_WORLD_SIZE");
    bool const step = in_slurm_step(variables);
    LauncherInfo info;
    info.name = launcher_name(variables);
    // SLURM_NTASKS proves nothing: it is N in a plain batch script, too.
    for (auto const& ranks : {number(variables, "OMPI_COMM_WORLD_SIZE"), number(variables, "PMI_SIZE"),
                              step ? number(variables, "SLURM_STEP_NUM_TASKS") : std::nullopt}) {
        if (ranks && info.ranks == 0) {
            info.ranks = *ranks;
        }
    }
    for (char const* const name : {"OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK"}) {
        if (!info.rank) {
            info.rank = number(variables, name);
        }
    }
    for (char const* const name :
         {"OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID", "SLURM_LOCALID", "PMI_LOCAL_RANK", "LOCAL_RANK"}) {
        bool const stale = std::string_view(name) == "SLURM_LOCALID" && (!step || mpirun);
        if (!info.local_rank && !stale) {
            info.local_rank = number(variables, name);
        }
    }
    return info;
}

bool started_by_launcher(LauncherVariables const& variables) {
    return has(variables, "OMPI_COMM_WORLD_SIZE") || has(variables, "PMI_SIZE") || has(variables, "PMIX_RANK") ||
           (in_slurm_step(variables) && number(variables, "SLURM_STEP_NUM_TASKS").value_or(1) > 1);
}

std::string refusal_before_init(LauncherVariables const& variables, std::string_view library) {
    int const tasks = number(variables, "SLURM_STEP_NUM_TASKS").value_or(1);
    std::string_view const type = text(variables, "SLURM_MPI_TYPE");
    bool const by_srun = in_slurm_step(variables) && !has(variables, "OMPI_COMM_WORLD_SIZE");
    if (!by_srun || tasks < 2 || !is_open_mpi(library) || type.starts_with("pmix")) {
        return "";
    }
    return fmt::format("srun started {} tasks with --mpi={}, and {} cannot start that way; use srun --mpi=pmix", tasks,
                       type.empty() ? "none" : type, library);
}

std::string refusal_after_init(LauncherVariables const& variables, std::string_view library, int mpi_size) {
    LauncherInfo const launcher = launcher_info(variables);
    if (mpi_size != 1 || launcher.ranks <= 1) {
        return "";
    }
    return fmt::format(
        "{} started {} processes, but each is alone in an MPI world of its own: this program is linked with {}; {}",
        launcher.name, launcher.ranks, library, right_launcher(library));
}

std::string launch_warning(LauncherVariables const& variables, int mpi_size, int mpi_local_rank) {
    LauncherInfo const launcher = launcher_info(variables);
    if (launcher.ranks > 0 && launcher.ranks != mpi_size) {
        return fmt::format("{} started {} processes, MPI has {}", launcher.name, launcher.ranks, mpi_size);
    }
    if (launcher.local_rank && *launcher.local_rank != mpi_local_rank) {
        return fmt::format("the launcher says local rank {}, MPI says {}", *launcher.local_rank, mpi_local_rank);
    }
    std::optional<int> const tasks = number(variables, "SLURM_NTASKS");
    if (launcher.name.empty() && tasks && *tasks > 1 && mpi_size == 1) {
        return fmt::format("this allocation has {} tasks, but the program was started without srun or mpirun: one rank",
                           *tasks);
    }
    return "";
}

}  // namespace dlmb
