// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// The table of methods, and a choice read from the command line.
#pragma once

#include "common/backend/backend.hpp"

namespace dlmb::mpi {

enum class MethodId : std::uint8_t {
    alltoall,
    alltoallv,
    isend_irecv,
    pairwise,
    neighbor,
    blocking,
    nonblocking,
    persistent
};

struct Method {
    MethodId id = MethodId::alltoallv;
    std::string_view name;
    int max_outstanding = 1;  // pairwise
};

[[nodiscard]] std::span<MethodInfo const> method_table();

/// Throws UsageError naming the nearest known methods, or the knobs of the method.
[[nodiscard]] Method read_method(MethodChoice const& choice);

}  // namespace dlmb::mpi
