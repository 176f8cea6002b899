// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// An MPI communicator that frees itself and reports errors as codes. Not a wrapper of MPI's calls: those are made where
// they are needed, on get().
#pragma once

#include <mpi.h>

#include <span>
#include <string>

namespace dlmb::mpi {

class Communicator {
public:
    Communicator() = default;
    explicit Communicator(MPI_Comm owned);  // sets MPI_ERRORS_RETURN
    Communicator(Communicator const&) = delete;
    Communicator& operator=(Communicator const&) = delete;
    Communicator(Communicator&& other) noexcept : comm_(other.comm_) { other.comm_ = MPI_COMM_NULL; }
    Communicator& operator=(Communicator&&) = delete;
    ~Communicator() { release(); }

    [[nodiscard]] MPI_Comm get() const { return comm_; }
    [[nodiscard]] int rank() const;
    [[nodiscard]] int size() const;

private:
    void release() noexcept;
    MPI_Comm comm_ = MPI_COMM_NULL;
};

/// A library reads this key when a communicator is made.
struct InfoKey {
    std::string key;  // empty: nothing
    std::string value;
};

/// Collective over `parent`.
[[nodiscard]] Communicator duplicate(MPI_Comm parent);
[[nodiscard]] Communicator duplicate(MPI_Comm parent, InfoKey const& info);
/// Collective over the named ranks of `parent` only; their order is the order of `members`.
[[nodiscard]] Communicator create_group(MPI_Comm parent, std::span<int const> members);

}  // namespace dlmb::mpi
