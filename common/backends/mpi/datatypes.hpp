// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Elements and reductions in MPI's terms. MPI has no 16-bit or 8-bit floating point: such elements can be moved, not
// reduced.
#pragma once

#include "common/plan/plan.hpp"

#include <mpi.h>

#include <optional>

namespace dlmb::mpi {

[[nodiscard]] MPI_Datatype moved_type(Element element);                   // same size, for moving only
[[nodiscard]] std::optional<MPI_Datatype> reduced_type(Element element);  // nullopt: MPI cannot reduce it
[[nodiscard]] MPI_Op operation_of(Reduction reduction);

}  // namespace dlmb::mpi
