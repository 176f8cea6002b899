// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// The component coll/tuned calls one function of libmpi.so per algorithm. Those here are found before and hand on to
// them.
#include "tests/mpi/algorithms/seen_algorithm.hpp"

#include <mpi.h>

#include <dlfcn.h>

namespace {

using Allreduce = int(void const*, void*, int, MPI_Datatype, MPI_Op, MPI_Comm, void*);

std::string seen;

Allreduce* noted(char const* algorithm, char const* function) {
    seen += algorithm;
    return reinterpret_cast<Allreduce*>(dlsym(RTLD_NEXT, function));
}

}  // namespace

// NOLINTBEGIN(readability-identifier-naming): the library's names
extern "C" {
int ompi_coll_base_allreduce_intra_basic_linear(void const* send, void* recv, int count, MPI_Datatype type, MPI_Op op,
                                                MPI_Comm comm, void* module) {
    return noted("basic_linear", __func__)(send, recv, count, type, op, comm, module);
}
int ompi_coll_base_allreduce_intra_recursivedoubling(void const* send, void* recv, int count, MPI_Datatype type,
                                                     MPI_Op op, MPI_Comm comm, void* module) {
    return noted("recursive_doubling", __func__)(send, recv, count, type, op, comm, module);
}
int ompi_coll_base_allreduce_intra_ring(void const* send, void* recv, int count, MPI_Datatype type, MPI_Op op,
                                        MPI_Comm comm, void* module) {
    return noted("ring", __func__)(send, recv, count, type, op, comm, module);
}
int ompi_coll_base_allreduce_intra_redscat_allgather(void const* send, void* recv, int count, MPI_Datatype type,
                                                     MPI_Op op, MPI_Comm comm, void* module) {
    return noted("rabenseifner", __func__)(send, recv, count, type, op, comm, module);
}
}
// NOLINTEND(readability-identifier-naming)

namespace dlmb::mpi {

void watch_allreduce() {
    seen.clear();
}

std::string seen_allreduce(int /*ranks*/) {
    return seen;
}

}  // namespace dlmb::mpi
