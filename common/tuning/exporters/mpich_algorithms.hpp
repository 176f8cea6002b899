// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Names of MPICH's algorithms (the words of MPIR_CVAR_*_INTRA_ALGORITHM), their leaves in a selection tree, and what
// must hold where a leaf stands: the tree is obeyed without the checks that a forced variable gets. Source:
// src/mpi/coll/*/*.c of 4.0.2 and the tree in its library.
#pragma once

#include "common/tuning/exporters/mpi_collective.hpp"

#include <string_view>

namespace dlmb::tuning {

enum class MpichGuard : std::uint8_t {
    none,
    not_in_place,
    commutative,
    built_in_and_long,  // a built-in reduction of at least as many elements as the largest power of two of ranks
    hierarchy,          // the communicator spans nodes and has subcommunicators for them
    power_of_two        // of ranks
};

struct MpichAlgorithm {
    MpiCollective collective;
    std::string_view name;  // "recursive_doubling"
    std::string_view leaf;  // "MPIR_Allreduce_intra_recursive_doubling"
    MpichGuard guard;
};

/// Null: none of this name, or one that is safe only with MPI_IN_PLACE.
[[nodiscard]] MpichAlgorithm const* mpich_algorithm(MpiCollective collective, std::string_view name);

}  // namespace dlmb::tuning
