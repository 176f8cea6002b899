// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// MPICH, and MPI libraries made from it that kept the function.
#include "common/backends/mpi/device_path.hpp"
#include "common/bootstrap/mpi/mpi_check.hpp"

#include <mpi.h>

namespace dlmb::mpi {

DeviceQuery query_device_support() {
    int supported = 0;
    check(MPIX_GPU_query_support(MPIX_GPU_SUPPORT_CUDA, &supported), "MPIX_GPU_query_support");
    return {"MPIX_GPU_query_support", supported != 0};
}

}  // namespace dlmb::mpi
