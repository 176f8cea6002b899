// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// The control plane over MPI, and MPI's lifetime. No mpi.h here: who uses a launch need not know what carries it.
#pragma once

#include "common/bootstrap/bootstrap.hpp"

#include <memory>
#include <string>
#include <string_view>

namespace dlmb {

/// MPI from construction to destruction. Throws UsageError where the launcher does not fit this MPI library
/// (launch_guard.hpp), which would otherwise run as N separate worlds of one rank, or where the library does not
/// provide `thread_level` ("single", "funneled", "serialized" or "multiple").
class MpiSession {
public:
    MpiSession(int& argc, char**& argv, std::string_view thread_level);
    MpiSession(MpiSession const&) = delete;
    MpiSession& operator=(MpiSession const&) = delete;
    MpiSession(MpiSession&&) = delete;
    MpiSession& operator=(MpiSession&&) = delete;
    /// Finalizes, except while an exception unwinds: the other ranks are not in MPI_Finalize then, and the launch has
    /// to be ended by Bootstrap::abort.
    ~MpiSession();

    /// How long MPI_Init_thread took on this rank.
    [[nodiscard]] Nanoseconds init_ns() const { return init_ns_; }

private:
    int exceptions_;
    Nanoseconds init_ns_ = 0;
};

/// Collective over all ranks of an initialised MPI. Destroyed before its session.
[[nodiscard]] std::unique_ptr<Bootstrap> make_mpi_bootstrap();

/// "single" and so on, of MPI's constant.
[[nodiscard]] std::string_view name_of_thread_level(int level);

/// First line of the library's own version text, "Open MPI v4.1.4, package: ...". Legal before MPI_Init.
[[nodiscard]] std::string mpi_library_version();

}  // namespace dlmb
