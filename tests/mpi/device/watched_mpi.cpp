// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "tests/mpi/device/watched_mpi.hpp"

#include <mpi.h>

#include <dlfcn.h>

namespace dlmb::watched {
namespace {

using IsDevice = int (*)(void const*);

IsDevice is_device() {
    static auto const function = reinterpret_cast<IsDevice>(dlsym(RTLD_DEFAULT, "dlmb_fake_gpu_is_device"));
    return function;
}

Pointers counted;

void note(void const* buffer) {
    if (buffer == MPI_IN_PLACE || !double_is_loaded()) {
        return;
    }
    ++(is_device()(buffer) != 0 ? counted.device : counted.host);
}

void note(void const* from, void const* to) {
    note(from);
    note(to);
}

}  // namespace

Pointers pointers() {
    return counted;
}

void reset() {
    counted = {};
}

bool double_is_loaded() {
    return is_device() != nullptr;
}

}  // namespace dlmb::watched

using dlmb::watched::note;

extern "C" {

int MPI_Isend(void const* data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm, MPI_Request* request) {
    note(data);
    return PMPI_Isend(data, count, type, to, tag, comm, request);
}

int MPI_Irecv(void* data, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Request* request) {
    note(data);
    return PMPI_Irecv(data, count, type, from, tag, comm, request);
}

int MPI_Send_init(void const* data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
                  MPI_Request* request) {
    note(data);
    return PMPI_Send_init(data, count, type, to, tag, comm, request);
}

int MPI_Recv_init(void* data, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Request* request) {
    note(data);
    return PMPI_Recv_init(data, count, type, from, tag, comm, request);
}

int MPI_Alltoall(void const* from, int n, MPI_Datatype type, void* to, int m, MPI_Datatype to_type, MPI_Comm comm) {
    note(from, to);
    return PMPI_Alltoall(from, n, type, to, m, to_type, comm);
}

int MPI_Ialltoall(void const* from, int n, MPI_Datatype type, void* to, int m, MPI_Datatype to_type, MPI_Comm comm,
                  MPI_Request* request) {
    note(from, to);
    return PMPI_Ialltoall(from, n, type, to, m, to_type, comm, request);
}

int MPI_Alltoallv(void const* from, int const* n, int const* at, MPI_Datatype type, void* to, int const* m,
                  int const* to_at, MPI_Datatype to_type, MPI_Comm comm) {
    note(from, to);
    return PMPI_Alltoallv(from, n, at, type, to, m, to_at, to_type, comm);
}

int MPI_Ialltoallv(void const* from, int const* n, int const* at, MPI_Datatype type, void* to, int const* m,
                   int const* to_at, MPI_Datatype to_type, MPI_Comm comm, MPI_Request* request) {
    note(from, to);
    return PMPI_Ialltoallv(from, n, at, type, to, m, to_at, to_type, comm, request);
}

int MPI_Alltoallw(void const* from, int const* n, int const* at, MPI_Datatype const* types, void* to, int const* m,
                  int const* to_at, MPI_Datatype const* to_types, MPI_Comm comm) {
    note(from, to);
    return PMPI_Alltoallw(from, n, at, types, to, m, to_at, to_types, comm);
}

int MPI_Neighbor_alltoallv(void const* from, int const* n, int const* at, MPI_Datatype type, void* to, int const* m,
                           int const* to_at, MPI_Datatype to_type, MPI_Comm comm) {
    note(from, to);
    return PMPI_Neighbor_alltoallv(from, n, at, type, to, m, to_at, to_type, comm);
}

int MPI_Allreduce(void const* from, void* to, int count, MPI_Datatype type, MPI_Op operation, MPI_Comm comm) {
    note(from, to);
    return PMPI_Allreduce(from, to, count, type, operation, comm);
}

int MPI_Iallreduce(void const* from, void* to, int count, MPI_Datatype type, MPI_Op operation, MPI_Comm comm,
                   MPI_Request* request) {
    note(from, to);
    return PMPI_Iallreduce(from, to, count, type, operation, comm, request);
}

int MPI_Reduce_scatter_block(void const* from, void* to, int count, MPI_Datatype type, MPI_Op operation,
                             MPI_Comm comm) {
    note(from, to);
    return PMPI_Reduce_scatter_block(from, to, count, type, operation, comm);
}

int MPI_Allgather(void const* from, int n, MPI_Datatype type, void* to, int m, MPI_Datatype to_type, MPI_Comm comm) {
    note(from, to);
    return PMPI_Allgather(from, n, type, to, m, to_type, comm);
}

int MPI_Bcast(void* data, int count, MPI_Datatype type, int root, MPI_Comm comm) {
    note(data);
    return PMPI_Bcast(data, count, type, root, comm);
}

int MPI_Ibcast(void* data, int count, MPI_Datatype type, int root, MPI_Comm comm, MPI_Request* request) {
    note(data);
    return PMPI_Ibcast(data, count, type, root, comm, request);
}

}  // extern "C"
