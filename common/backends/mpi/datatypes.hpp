// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Elements and reductions in MPI's terms. MPI has no 16-bit or 8-bit floating point: such elements travel as unsigned
// integers of their size and are reduced by operations of our own, in float, rounded after each operand.
#pragma once

#include "common/plan/plan.hpp"

#include <mpi.h>

namespace dlmb::mpi {

[[nodiscard]] MPI_Datatype moved_type(Element element);  // same size, for moving only
[[nodiscard]] MPI_Datatype reduced_type(Element element);
[[nodiscard]] MPI_Op operation_of(Element element, Reduction reduction);

}  // namespace dlmb::mpi
