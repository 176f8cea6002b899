// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// MPI operations for floating-point formats that MPI does not have.
#pragma once

#include "common/plan/plan.hpp"

#include <mpi.h>

namespace dlmb::mpi {

[[nodiscard]] bool is_narrow_float(Element element);

/// Made at first use; MPI_Finalize takes them back. For elements that travel as unsigned integers of their size.
[[nodiscard]] MPI_Op narrow_operation(Element element, Reduction reduction);

}  // namespace dlmb::mpi
