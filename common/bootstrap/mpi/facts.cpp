// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/bootstrap/mpi/facts.hpp"

#include "common/bootstrap/launch_guard.hpp"
#include "common/bootstrap/mpi/mpi_bootstrap.hpp"
#include "common/bootstrap/mpi/mpi_check.hpp"

#include <fmt/core.h>
#include <mpi.h>

#include <string_view>

namespace dlmb::mpi {
namespace {

std::string_view name_of_thread_level(int level) {
    switch (level) {
    case MPI_THREAD_SINGLE:
        return "single";
    case MPI_THREAD_FUNNELED:
        return "funneled";
    case MPI_THREAD_SERIALIZED:
        return "serialized";
    default:
        return "multiple";
    }
}

}  // namespace

std::map<std::string, std::string, std::less<>> facts(int size, int local_rank) {
    int version = 0;
    int subversion = 0;
    int level = 0;
    check(MPI_Get_version(&version, &subversion), "MPI_Get_version");
    check(MPI_Query_thread(&level), "MPI_Query_thread");
    LauncherVariables const variables = read_launcher_variables();
    LauncherInfo const launcher = launcher_info(variables);
    std::map<std::string, std::string, std::less<>> facts{
        {"mpi_library", mpi_library_version()},
        {"mpi_standard", fmt::format("{}.{}", version, subversion)},
        {"mpi_thread_level", std::string(name_of_thread_level(level))},
        {"launcher", launcher.name.empty() ? "none" : launcher.name},
        {"launched_ranks", launcher.ranks > 0 ? fmt::format("{}", launcher.ranks) : "unknown"}};
    if (std::string warning = launch_warning(variables, size, local_rank); !warning.empty()) {
        facts.emplace("launch_warning", std::move(warning));
    }
    return facts;
}

}  // namespace dlmb::mpi
