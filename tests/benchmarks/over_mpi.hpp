// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// main() of a benchmark that mpirun starts. It starts MPI as a plain program does, by MPI_Init, so that loops written
// by hand are what a user's program would see.
#pragma once

#include "common/bootstrap/mpi/mpi_bootstrap.hpp"

#include <fmt/core.h>
#include <mpi.h>

#include <cstdio>
#include <exception>
#include <span>
#include <string_view>

namespace dlmb::benchmark {

/// At once, not when a buffer is full: the next row may take seconds.
inline void print_on_rank_0(Bootstrap const& bootstrap, std::string_view text) {
    if (bootstrap.rank() == 0) {
        fmt::print("{}", text);
        std::fflush(stdout);
    }
}

/// Calls run(bootstrap, words). An exception on any rank ends the launch with one line that names program and rank.
template <class Run>
int over_mpi(std::string_view program, int argc, char** argv, Run const& run) {
    MPI_Init(&argc, &argv);
    try {
        auto const bootstrap = make_mpi_bootstrap();
        run(*bootstrap, std::span<char*>(argv, static_cast<std::size_t>(argc)));
    } catch (std::exception const& error) {
        int rank = 0;
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
        fmt::print(stderr, "{}: error: rank {}: {}\n", program, rank, error.what());
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    MPI_Finalize();
    return 0;
}

}  // namespace dlmb::benchmark
