// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// MPI libraries that cannot be asked: Cray MPICH, MVAPICH.
#include "common/backends/mpi/device_path.hpp"

namespace dlmb::mpi {

DeviceQuery query_device_support() {
    return {};
}

}  // namespace dlmb::mpi
