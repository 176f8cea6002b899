// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/bootstrap/launch_guard.hpp"
#include "common/bootstrap/mpi/mpi_bootstrap.hpp"
#include "common/bootstrap/mpi/mpi_check.hpp"

#include <mpi.h>

#include <array>
#include <exception>
#include <string_view>

namespace dlmb {

MpiSession::MpiSession(int& argc, char**& argv) : exceptions_(std::uncaught_exceptions()) {
    LauncherVariables const variables = read_launcher_variables();
    std::string const library = mpi_library_version();
    if (std::string const refusal = refusal_before_init(variables, library); !refusal.empty()) {
        throw UsageError(refusal);
    }
    // Only the main thread communicates; MULTIPLE would add locks to every measured call. The watchdog's MPI_Abort from
    // its own thread works at this level in Open MPI and MPICH.
    int provided = 0;
    mpi::check(MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided), "MPI_Init_thread");
    int size = 0;
    mpi::check(MPI_Comm_size(MPI_COMM_WORLD, &size), "MPI_Comm_size");
    if (std::string const refusal = refusal_after_init(variables, library, size); !refusal.empty()) {
        MPI_Finalize();
        throw UsageError(refusal);
    }
}

MpiSession::~MpiSession() {
    if (std::uncaught_exceptions() > exceptions_) {
        return;
    }
    int finalized = 0;
    MPI_Finalized(&finalized);
    if (finalized == 0) {
        MPI_Finalize();
    }
}

std::string mpi_library_version() {
    std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> text{};
    int length = 0;
    mpi::check(MPI_Get_library_version(text.data(), &length), "MPI_Get_library_version");
    std::string_view line{text.data(), static_cast<std::size_t>(length)};
    line = line.substr(0, line.find('\n'));
    std::string words;
    for (char const c : line) {
        words += c == '\t' ? ' ' : c;
    }
    return words.substr(0, words.find('\0'));
}

}  // namespace dlmb
