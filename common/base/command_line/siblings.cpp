// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// The only file that knows where this build installs and starts programs: every build compiles it anew.
#include "common/base/command_line/siblings.hpp"

namespace dlmb {
namespace {

std::filesystem::path own_folder() {
    return std::filesystem::read_symlink("/proc/self/exe").parent_path();
}

}  // namespace

std::filesystem::path sibling_program(std::string const& name) {
    return own_folder() / name;
}

std::filesystem::path sibling_library(std::string const& name) {
    return (own_folder().parent_path() / DLMB_LIBRARY_FOLDER / name).lexically_normal();
}

std::string launcher_of(std::filesystem::path const& mpi_library) {
    auto const programs = mpi_library.parent_path().parent_path() / "bin";
    for (char const* const name : {"mpiexec", "mpirun"}) {
        if (std::filesystem::exists(programs / name)) {
            return (programs / name).string();
        }
    }
    return DLMB_MPIEXEC;
}

}  // namespace dlmb
