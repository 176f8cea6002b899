// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/backends/mpi/persistent_api.hpp"

namespace dlmb::mpi {

PersistentApi const* persistent_api() {
    return nullptr;
}

}  // namespace dlmb::mpi
