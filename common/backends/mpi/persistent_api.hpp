// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// The calls that prepare persistent collectives, by the names they have in this MPI library. CMake builds one of
// persistent_api_mpi4.cpp (MPI 4), persistent_api_pcollreq.cpp (Open MPI's extension) and persistent_api_absent.cpp.
#pragma once

#include <mpi.h>

namespace dlmb::mpi {

struct PersistentApi {
    int (*all_reduce)(void const*, void*, int, MPI_Datatype, MPI_Op, MPI_Comm, MPI_Info, MPI_Request*);
    int (*reduce_scatter)(void const*, void*, int, MPI_Datatype, MPI_Op, MPI_Comm, MPI_Info, MPI_Request*);
    int (*all_gather)(void const*, int, MPI_Datatype, void*, int, MPI_Datatype, MPI_Comm, MPI_Info, MPI_Request*);
    int (*broadcast)(void*, int, MPI_Datatype, int, MPI_Comm, MPI_Info, MPI_Request*);
};

/// nullptr: the library has none.
[[nodiscard]] PersistentApi const* persistent_api();

}  // namespace dlmb::mpi
