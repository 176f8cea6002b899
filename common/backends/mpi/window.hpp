// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// An MPI window that frees itself: memory of this rank that the others of a communicator may access.
#pragma once

#include "common/base/units.hpp"

#include <mpi.h>

#include <cstddef>
#include <string>

namespace dlmb::mpi {

/// MPICH 4.0 takes the begin of a window, and of each rank's part of an allocated one, for a multiple of 16 B.
inline constexpr Bytes window_alignment = 64;

class Window {
public:
    /// Collective over `comm`, as is its end. `base` outlives the window; nullptr: the library allocates the memory.
    /// Where the call fails, perhaps on this rank alone, there is no window: `failed` says why unless it has a text,
    /// and the rank goes on with the calls that the others are about to make.
    Window(std::byte* base, Bytes bytes, MPI_Comm comm, std::string& failed);
    Window(Window const&) = delete;
    Window& operator=(Window const&) = delete;
    Window(Window&& other) noexcept : window_(other.window_), base_(other.base_), locked_(other.locked_) {
        other.window_ = MPI_WIN_NULL;
    }
    Window& operator=(Window&&) = delete;
    ~Window();

    /// All ranks of the communicator, until the window ends.
    void lock_all();
    /// It stays until the process ends: to free it waits for ranks that may have none.
    void leave() { window_ = MPI_WIN_NULL; }
    [[nodiscard]] bool exists() const { return window_ != MPI_WIN_NULL; }
    [[nodiscard]] MPI_Win get() const { return window_; }
    [[nodiscard]] std::byte* base() const { return base_; }
    /// Whether data that a peer has completed here is seen without another call on the window.
    [[nodiscard]] bool is_unified() const;

private:
    MPI_Win window_ = MPI_WIN_NULL;
    std::byte* base_;
    bool locked_ = false;
};

}  // namespace dlmb::mpi
