// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Files that are installed beside this program, and beside its MPI library.
#pragma once

#include <filesystem>
#include <string>

namespace dlmb {

/// A program or library that is installed with this one.
[[nodiscard]] std::filesystem::path sibling_program(std::string const& name);
[[nodiscard]] std::filesystem::path sibling_library(std::string const& name);

/// The launcher that is installed with that MPI library, else the one that this build was configured with: programs may
/// run with another library than they were built with, and its launcher alone can start them.
[[nodiscard]] std::string launcher_of(std::filesystem::path const& mpi_library);

}  // namespace dlmb
