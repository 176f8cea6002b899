// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Open MPI, and MPI libraries made from it.
#include "common/backends/mpi/device_path.hpp"

// The extensions use what mpi.h declares.
// clang-format off
#include <mpi.h>
#include <mpi-ext.h>
// clang-format on

namespace dlmb::mpi {

// Neither of the lists in its documentation has the non-blocking reductions, that of the pml ucx nor that of ob1:
// https://docs.open-mpi.org/en/v5.0.x/tuning-apps/networking/cuda.html
DeviceQuery query_device_support() {
    return {"MPIX_Query_cuda_support", MPIX_Query_cuda_support() != 0, false};
}

}  // namespace dlmb::mpi
