// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// A program of plain MPI with nothing of DLMB in it: what an exported table is tried on. Errors of MPI are fatal.
//
// usage: dlmb_plain_mpi COLLECTIVE BYTES[,BYTES...] CALLS [compute|memory]
//                          prints, per size, median and mean time of a call on rank 0, beside such a load on each rank
//        dlmb_plain_mpi    prints the path of the MPI library and its version
//
// BYTES: the vector of allreduce and bcast, all shares together of the others. MPI_Pcontrol(1) and (0) enclose the
// calls of a size, for tools. The calls of a size follow each other without anything between them but a clock read.
#define _GNU_SOURCE
#include <mpi.h>

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
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

struct Collective {
    char const* name;
    void (*call)(struct Buffers const*);
    size_t unit;  /* bytes */
    int by_share; /* the int of the call counts units of one share, else of all bytes */
};
static struct Collective const collectives[] = {
    {"allgather", call_allgather, 1, 1}, {"allreduce", call_allreduce, sizeof(float), 0},
    {"alltoall", call_alltoall, 1, 1},   {"alltoallv", call_alltoallv, 1, 0},
    {"bcast", call_bcast, 1, 0},         {"reduce_scatter_block", call_reduce_scatter_block, sizeof(float), 1}};

static int int_counts(struct Collective const* collective, size_t bytes, int ranks) {
    return bytes / collective->unit / (collective->by_share ? (size_t)ranks : 1) <= INT_MAX;
}

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

static void* zeroed(size_t count, size_t size) {
    void* const memory = calloc(count + 1, size);
    if (memory == NULL) {
        MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
    }
    return memory;
}

/// Floats of 0.747. Pages that nobody has written are all one page of zeros, which stays in the nearest cache:
/// libraries would look faster than they are, and differently so.
static char* written(size_t bytes) {
    char* const memory = zeroed(bytes, 1);
    memset(memory, 0x3f, bytes);
    return memory;
}

struct Times {
    double median_ns;
    double mean_ns; /* of calls back to back: from the first one's begin to the last one's end */
};

static struct Times times_of(void (*call)(struct Buffers const*), struct Buffers const* buffers, int calls) {
    double* const times = zeroed((size_t)calls, sizeof(double));
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Pcontrol(1);
    double const first = MPI_Wtime();
    double last = first;
    for (int i = 0; i < calls; ++i) {
        call(buffers);
        double const now = MPI_Wtime();
        times[i] = now - last;
        last = now;
    }
    MPI_Pcontrol(0);
    qsort(times, (size_t)calls, sizeof(double), by_value);
    struct Times const result = {times[calls / 2] * 1e9, (last - first) * 1e9 / calls};
    free(times);
    return result;
}

/// The number that `text` begins with; `*end` is behind it, or `text` itself where there is none below 2^62.
static size_t number_of(char const* text, char** end) {
    errno = 0;
    unsigned long long const value = strtoull(text, end, 10);
    if (errno != 0 || *text < '0' || *text > '9' || value >> 62 != 0) {
        *end = (char*)text;
    }
    return (size_t)value;
}

static int is_list_of_sizes(char const* text) {
    char* end = NULL;
    for (;;) {
        number_of(text, &end);
        if (end == text || *end == '\0') {
            return end != text;
        }
        if (*end != ',') {
            return 0;
        }
        text = end + 1;
    }
}

static struct Times times_of_size(struct Collective const* collective, size_t bytes, int calls) {
    int ranks = 1;
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (!int_counts(collective, bytes, ranks)) {
        fprintf(stderr, "dlmb_plain_mpi: %zu bytes of %s are more than the int of its call counts\n", bytes,
                collective->name);
        MPI_Abort(MPI_COMM_WORLD, exit_usage);
    }
    struct Buffers buffers = {written(bytes),
                              written(bytes),
                              bytes,
                              ranks,
                              zeroed((size_t)ranks, sizeof(int)),
                              zeroed((size_t)ranks, sizeof(int))};
    for (int peer = 0; collective->call == call_alltoallv && peer < ranks; ++peer) {
        buffers.counts[peer] = (int)(bytes / (size_t)ranks);
        buffers.offsets[peer] = peer * buffers.counts[peer];
    }
    struct Times const times = times_of(collective->call, &buffers, calls);
    free(buffers.send);
    free(buffers.recv);
    free(buffers.counts);
    free(buffers.offsets);
    return times;
}

/// The load of common/measure/beside/load.cpp, as a thread that ends with the process: it copies twice the largest
/// cache, or multiplies matrices that fit into the nearest one.
static atomic_bool load_runs;

static size_t cache_bytes(void) {
    size_t kibibytes = 0;
    FILE* const file = fopen("/sys/devices/system/cpu/cpu0/cache/index3/size", "r");
    if (file != NULL) {
        kibibytes = fscanf(file, "%zuK", &kibibytes) == 1 ? kibibytes : 0;
        fclose(file);
    }
    return kibibytes > 0 ? kibibytes << 10 : (size_t)32 << 20;
}

static void* copy_memory(void* unused) {
    enum { piece = 64 << 10 };
    size_t const half = (cache_bytes() + piece - 1) / piece * piece;
    char* from = written(2 * half);
    char* to = from + half;
    atomic_store(&load_runs, 1);
    for (;;) {
        for (size_t at = 0; at < half; at += piece) {
            memcpy(to + at, from + at, piece);
        }
        char* const next = from;
        from = to;
        to = next;
    }
    return unused;
}

static void* multiply_matrices(void* unused) {
    enum { edge = 48 };
    float const* const a = (float const*)(void const*)written(edge * edge * sizeof(float));
    float* const sum = (float*)(void*)written(edge * edge * sizeof(float));
    atomic_store(&load_runs, 1);
    for (;;) {
        for (size_t row = 0; row < edge; ++row) {
            for (size_t k = 0; k < edge; ++k) {
                for (size_t column = 0; column < edge; ++column) {
                    sum[row * edge + column] += a[row * edge + k] * a[k * edge + column];
                }
            }
        }
        __asm__ volatile("" : : "r"(sum) : "memory"); /* the sums are wanted, as far as the compiler knows */
    }
    return unused;
}

/// Where no rank of the node runs, else not where this rank does, as far as the rank may run elsewhere.
static int bind_load(void) {
    cpu_set_t free_units;
    MPI_Comm node = MPI_COMM_NULL;
    int ranks = 1;
    int own = sched_getcpu();
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    MPI_Comm_size(node, &ranks);
    int* const taken = zeroed((size_t)ranks, sizeof(int));
    MPI_Allgather(&own, 1, MPI_INT, taken, 1, MPI_INT, node);
    int failed = sched_getaffinity(0, sizeof free_units, &free_units);
    int const allowed = CPU_COUNT(&free_units);
    for (int rank = 0; rank < ranks; ++rank) {
        CPU_CLR((size_t)taken[rank], &free_units);
    }
    if (CPU_COUNT(&free_units) == 0 && allowed > 1) {
        failed |= sched_getaffinity(0, sizeof free_units, &free_units);
        CPU_CLR((size_t)own, &free_units);
    }
    MPI_Comm_free(&node);
    free(taken);
    return failed || allowed == 1 ? 0 : sched_setaffinity(0, sizeof free_units, &free_units);
}

/// Returns whether it runs. The thread inherits where it is bound.
static int start_load(char const* name) {
    cpu_set_t before;
    pthread_t thread;
    sched_getaffinity(0, sizeof before, &before);
    int const bound = bind_load();
    int const failed =
        pthread_create(&thread, NULL, strcmp(name, "memory") == 0 ? copy_memory : multiply_matrices, NULL);
    sched_setaffinity(0, sizeof before, &before);
    while (!failed && !atomic_load(&load_runs)) {
        sched_yield();
    }
    return !failed && bound == 0;
}

int main(int argc, char** argv) {
    if (argc == 1) {
        return print_library();
    }
    struct Collective const* collective = NULL;
    char const* const load = argc == 5 ? argv[4] : NULL;
    int const is_load = load == NULL || strcmp(load, "compute") == 0 || strcmp(load, "memory") == 0;
    for (size_t i = 0; argc >= 4 && argc <= 5 && is_load && i < sizeof(collectives) / sizeof(collectives[0]); ++i) {
        collective = strcmp(argv[1], collectives[i].name) == 0 ? &collectives[i] : collective;
    }
    if (collective == NULL || !is_list_of_sizes(argv[2]) || atoi(argv[3]) < 1) {
        fprintf(stderr,
                "usage: dlmb_plain_mpi COLLECTIVE BYTES[,BYTES...] CALLS [compute|memory] (one call or more)\n");
        return exit_usage;
    }
    int const calls = atoi(argv[3]);
    if (load == NULL) {
        MPI_Init(&argc, &argv);
    } else {
        int level = MPI_THREAD_SINGLE;
        MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &level);
        if (!start_load(load)) {
            fprintf(stderr, "dlmb_plain_mpi: the load cannot be started\n");
            MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
        }
    }
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (char* sizes = argv[2]; *sizes != '\0'; sizes += *sizes == ',') {
        size_t const bytes = number_of(sizes, &sizes);
        struct Times const times = times_of_size(collective, bytes, calls);
        if (rank == 0) {
            printf("bytes %zu median_ns %.0f mean_ns %.0f\n", bytes, times.median_ns, times.mean_ns);
        }
    }
    MPI_Finalize();
    return EXIT_SUCCESS;
}
