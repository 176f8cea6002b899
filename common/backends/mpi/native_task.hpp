// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// One prepared native call, or a few that belong together, by any method.
#pragma once

#include "common/backends/mpi/alltoall.hpp"
#include "common/backends/mpi/alltoallv.hpp"
#include "common/backends/mpi/collectives.hpp"
#include "common/backends/mpi/isend_irecv.hpp"
#include "common/backends/mpi/neighbor.hpp"
#include "common/backends/mpi/pairwise.hpp"
#include "common/backends/mpi/persistent.hpp"

#include <variant>

namespace dlmb::mpi {

/// start(), then wait() or test() until true; a task that blocks() is complete after start().
using NativeTask =
    std::variant<Alltoall, Alltoallv, LargeAlltoallv, IsendIrecv, Pairwise, Neighbor, Persistent, Collective>;

}  // namespace dlmb::mpi
