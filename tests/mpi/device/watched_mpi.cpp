// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "tests/mpi/device/watched_mpi.hpp"

#include <mpi.h>

#include <dlfcn.h>

namespace dlmb::watched {
namespace {

using IsDevice = bool (*)(void const*);

Pointers counted;

void note(void const* buffer) {
    static auto const is_device = reinterpret_cast<IsDevice>(dlsym(RTLD_DEFAULT, "dlmb_fake_gpu_is_device"));
    if (buffer != MPI_IN_PLACE) {
        ++(is_device(buffer) ? counted.device : counted.host);
    }
}

}  // namespace

Pointers pointers() {
    return counted;
}

void reset() {
    counted = {};
}

}  // namespace dlmb::watched

using dlmb::watched::note;

extern "C" {

int MPI_Isend(void const* data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm, MPI_Request* request) {
    note(data);
    return PMPI_Isend(data, count, type, to, tag, comm, request);
}

int MPI_Alltoallv(void const* from, int const* n, int const* at, MPI_Datatype type, void* to, int const* m,
                  int const* to_at, MPI_Datatype to_type, MPI_Comm comm) {
    note(from);
    note(to);
    return PMPI_Alltoallv(from, n, at, type, to, m, to_at, to_type, comm);
}

int MPI_Allreduce(void const* from, void* to, int count, MPI_Datatype type, MPI_Op operation, MPI_Comm comm) {
    note(from);
    note(to);
    return PMPI_Allreduce(from, to, count, type, operation, comm);
}

}  // extern "C"
