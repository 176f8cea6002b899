// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/bootstrap/mpi/parameter_files.hpp"

#include <mpi.h>

#include <algorithm>
#include <vector>

namespace dlmb::mpi {
namespace {

/// The text that a control variable of the library holds; empty where there is no such variable.
std::string text_of(char const* name) {
    int index = 0;
    MPI_T_cvar_handle handle = MPI_T_CVAR_HANDLE_NULL;
    int length = 0;
    if (MPI_T_cvar_get_index(name, &index) != MPI_SUCCESS ||
        MPI_T_cvar_handle_alloc(index, nullptr, &handle, &length) != MPI_SUCCESS) {
        return {};
    }
    std::vector<char> text(static_cast<std::size_t>(std::max(length, 0)) + 1);
    bool const read = length > 0 && MPI_T_cvar_read(handle, text.data()) == MPI_SUCCESS;
    MPI_T_cvar_handle_free(&handle);
    return read ? text.data() : "";
}

}  // namespace

// Without an MPI_T_finalize, and at the level of MPI itself: see backends/mpi/control_variable.cpp.
std::string parameter_files() {
    int level = MPI_THREAD_SINGLE;
    int provided = 0;
    if (MPI_Query_thread(&level) != MPI_SUCCESS || MPI_T_init_thread(level, &provided) != MPI_SUCCESS) {
        return {};
    }
    std::string all;
    for (char const* const name : {"mca_base_override_param_file", "mca_base_param_files"}) {
        if (std::string const text = text_of(name); !text.empty()) {
            all += (all.empty() ? "" : ",") + text;
        }
    }
    return all;
}

}  // namespace dlmb::mpi
