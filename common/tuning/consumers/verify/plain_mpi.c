// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// A program of plain MPI with nothing of DLMB in it: what an exported table is tried on. Errors of MPI are fatal.
//
// usage: dlmb_plain_mpi COLLECTIVE BYTES CALLS    prints the median time of a call on rank 0 in nanoseconds
//        dlmb_plain_mpi                           prints the path of the MPI library and its version
//
// BYTES: the vector of allreduce and bcast, all shares together of the others. MPI_Pcontrol(1) and (0) enclose the
// calls, for tools.
#define _GNU_SOURCE
#include <mpi.h>

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { exit_usage = 64 };

struct Buffers {
    char* send;
    char* recv;
    size_t bytes;
    int ranks;
    int* counts;
    int* offsets;
};

static void call_allreduce(struct Buffers const* b) {
    MPI_Allreduce(b->send, b->recv, (int)(b->bytes / sizeof(float)), MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
}
static void call_bcast(struct Buffers const* b) {
    MPI_Bcast(b->recv, (int)b->bytes, MPI_BYTE, 0, MPI_COMM_WORLD);
}
static void call_allgather(struct Buffers const* b) {
    int const share = (int)(b->bytes / (size_t)b->ranks);
    MPI_Allgather(b->send, share, MPI_BYTE, b->recv, share, MPI_BYTE, MPI_COMM_WORLD);
}
static void call_alltoall(struct Buffers const* b) {
    int const share = (int)(b->bytes / (size_t)b->ranks);
    MPI_Alltoall(b->send, share, MPI_BYTE, b->recv, share, MPI_BYTE, MPI_COMM_WORLD);
}
static void call_alltoallv(struct Buffers const* b) {
    MPI_Alltoallv(b->send, b->counts, b->offsets, MPI_BYTE, b->recv, b->counts, b->offsets, MPI_BYTE, MPI_COMM_WORLD);
}
static void call_reduce_scatter_block(struct Buffers const* b) {
    int const share = (int)(b->bytes / sizeof(float) / (size_t)b->ranks);
    MPI_Reduce_scatter_block(b->send, b->recv, share, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
}

static struct {
    char const* name;
    void (*call)(struct Buffers const*);
} const collectives[] = {{"allgather", call_allgather}, {"allreduce", call_allreduce},
                         {"alltoall", call_alltoall},   {"alltoallv", call_alltoallv},
                         {"bcast", call_bcast},         {"reduce_scatter_block", call_reduce_scatter_block}};

static int by_value(void const* one, void const* other) {
    double const difference = *(double const*)one - *(double const*)other;
    return (difference > 0) - (difference < 0);
}

static int print_library(void) {
    char version[MPI_MAX_LIBRARY_VERSION_STRING];
    int length = 0;
    Dl_info where;
    MPI_Get_library_version(version, &length);
    if (dladdr(dlsym(RTLD_DEFAULT, "MPI_Get_library_version"), &where) == 0) {
        return EXIT_FAILURE;
    }
    printf("%s\n%s\n", where.dli_fname, version);
    return EXIT_SUCCESS;
}

static double median_ns(void (*call)(struct Buffers const*), struct Buffers const* buffers, int calls) {
    double* const times = calloc((size_t)calls + 1, sizeof(double));
    if (times == NULL) {
        MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Pcontrol(1);
    for (int i = 0; i < calls; ++i) {
        double const begin = MPI_Wtime();
        call(buffers);
        times[i] = MPI_Wtime() - begin;
    }
    MPI_Pcontrol(0);
    qsort(times, (size_t)calls, sizeof(double), by_value);
    double const median = times[calls / 2] * 1e9;
    free(times);
    return median;
}

int main(int argc, char** argv) {
    if (argc == 1) {
        return print_library();
    }
    void (*call)(struct Buffers const*) = NULL;
    for (size_t i = 0; argc == 4 && i < sizeof(collectives) / sizeof(collectives[0]); ++i) {
        call = strcmp(argv[1], collectives[i].name) == 0 ? collectives[i].call : call;
    }
    if (call == NULL) {
        fprintf(stderr, "usage: dlmb_plain_mpi COLLECTIVE BYTES CALLS\n");
        return exit_usage;
    }
    MPI_Init(&argc, &argv);
    int rank = 0;
    int ranks = 1;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    size_t const bytes = strtoull(argv[2], NULL, 10);
    struct Buffers buffers = {calloc(bytes + 1, 1),
                              calloc(bytes + 1, 1),
                              bytes,
                              ranks,
                              calloc((size_t)ranks, sizeof(int)),
                              calloc((size_t)ranks, sizeof(int))};
    if (buffers.send == NULL || buffers.recv == NULL || buffers.counts == NULL || buffers.offsets == NULL) {
        MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
    }
    for (int peer = 0; peer < ranks; ++peer) {
        buffers.counts[peer] = (int)(bytes / (size_t)ranks);
        buffers.offsets[peer] = peer * buffers.counts[peer];
    }
    double const median = median_ns(call, &buffers, atoi(argv[3]));
    if (rank == 0) {
        printf("median_ns %.0f\n", median);
    }
    free(buffers.send);
    free(buffers.recv);
    free(buffers.counts);
    free(buffers.offsets);
    MPI_Finalize();
    return EXIT_SUCCESS;
}
