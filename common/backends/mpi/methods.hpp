// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// The table of methods, and a choice read from the command line.
#pragma once

#include "common/backend_kit/backend.hpp"
#include "common/backends/mpi/algorithm_choice.hpp"

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
    MethodId id = MethodId::alltoallv;  // of the native calls
    std::string_view name;
    int max_outstanding = 1;          // pairwise
    bool staged = false;              // the native calls see images of the buffers in host memory
    Bytes chunk_bytes = 0;            // staged
    AlgorithmChoice algorithms = {};  // of the library, where the method is `algorithm`

    [[nodiscard]] bool by_algorithm() const { return name == algorithm_method; }
};

/// All of them.
[[nodiscard]] std::span<MethodInfo const> method_table();
/// Those that mean something without a knob.
[[nodiscard]] std::span<MethodInfo const> plain_methods();
/// Of these, those whose native calls are given the buffers themselves, and the one whose calls are not.
[[nodiscard]] std::span<MethodInfo const> direct_methods();
[[nodiscard]] std::span<MethodInfo const> staged_method();

/// `by_default`: what "default" means. Throws UsageError naming the nearest known methods, or the knobs of the method.
[[nodiscard]] Method read_method(MethodChoice const& choice, std::string_view by_default = "alltoallv");

}  // namespace dlmb::mpi
