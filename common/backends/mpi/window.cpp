// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/backends/mpi/window.hpp"

#include "common/bootstrap/mpi/mpi_check.hpp"

#include <exception>

namespace dlmb::mpi {

// Displacements are in bytes.
Window::Window(std::byte* base, Bytes bytes, MPI_Comm comm, std::string& failed) : base_(base) {
    auto const size = static_cast<MPI_Aint>(bytes);
    try {
        if (base != nullptr) {
            check(MPI_Win_create(base, size, 1, MPI_INFO_NULL, comm, &window_), "MPI_Win_create");
        } else {
            check(MPI_Win_allocate(size, 1, MPI_INFO_NULL, comm, static_cast<void*>(&base_), &window_),
                  "MPI_Win_allocate");
        }
    } catch (CallFailed const& failure) {
        failed = failed.empty() ? failure.summary() : failed;
        leave();  // a library may have written something
        return;
    }
    check(MPI_Win_set_errhandler(window_, MPI_ERRORS_RETURN), "MPI_Win_set_errhandler");
}

// MPI_Win_free waits for the others. While this rank unwinds they may be anywhere, and the launch is about to be
// aborted.
Window::~Window() {
    int finalized = 0;
    MPI_Finalized(&finalized);
    if (window_ == MPI_WIN_NULL || finalized != 0 || std::uncaught_exceptions() > 0) {
        return;
    }
    if (locked_) {
        MPI_Win_unlock_all(window_);
    }
    MPI_Win_free(&window_);
}

void Window::lock_all() {
    if (!exists()) {
        return;
    }
    check(MPI_Win_lock_all(0, window_), "MPI_Win_lock_all");
    locked_ = true;
}

bool Window::is_unified() const {
    void* value = nullptr;
    int found = 0;
    check(MPI_Win_get_attr(window_, MPI_WIN_MODEL, static_cast<void*>(&value), &found), "MPI_Win_get_attr");
    return found != 0 && *static_cast<int*>(value) == MPI_WIN_UNIFIED;
}

}  // namespace dlmb::mpi
