// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/bootstrap/launch_guard.hpp"

#include "common/base/units.hpp"

#include <fmt/core.h>

#include <unistd.h>

namespace dlmb {
namespace {

bool has(LauncherVariables const& variables, std::string_view name) {
    return variables.find(name) != variables.end();
}

/// SLURM_PROCID is asked by nobody on purpose: it is a global rank, and stale (0 in every rank) inside a batch script.
std::optional<int> number(LauncherVariables const& variables, std::string_view name) {
    auto const found = variables.find(name);
    std::optional<int> const value = found == variables.end() ? std::nullopt : parse_whole<int>(found->second);
    return value && *value >= 0 ? value : std::nullopt;
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
    for (char const* const* entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
        std::string_view const text{*entry};
        if (std::size_t const equals = text.find('='); equals != std::string_view::npos) {
            variables.emplace(text.substr(0, equals), text.substr(equals + 1));
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
        info.rank = info.rank ? info.rank : number(variables, name);
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
