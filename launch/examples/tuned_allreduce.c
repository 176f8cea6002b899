/* Copyright (c) 2026 The DLMB developers
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * A runtime with an allreduce of its own, a ring, that takes it where a tuning table says so (docs/tuning.md). What the
 * table does not choose, or chooses and this program does not have, is left to MPI.
 *
 *     mpicc -std=c99 tuned_allreduce.c -o tuned_allreduce $(pkg-config --cflags --libs dlmb_tuning)
 *     mpirun -np 4 ./tuned_allreduce results-schema/examples/tuning-table.json
 */
#include <mpi.h>

#include <dlmb_tuning.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    dlmb_tuning* table; /* NULL: no table, everything is left to MPI */
    int rank, ranks, nodes;
} runtime;

/* Ranks of one node share memory; the first of each node counts it. */
static int count_nodes(void) {
    MPI_Comm node;
    int local_rank = 0, first = 0, nodes = 0;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    MPI_Comm_rank(node, &local_rank);
    MPI_Comm_free(&node);
    first = local_rank == 0;
    MPI_Allreduce(&first, &nodes, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    return nodes;
}

/* A rank without the table would choose differently from the others, so all use it or none does. */
static runtime start(char const* path) {
    runtime self;
    int code = 0, worst = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &self.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &self.ranks);
    self.nodes = count_nodes();
    code = dlmb_tuning_open(path, NULL, &self.table);
    MPI_Allreduce(&code, &worst, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    if (worst != 0) {
        if (code != 0) {
            fprintf(stderr, "rank %d: %s: code %d; run dlmb_tune show\n", self.rank, path, code);
        }
        dlmb_tuning_close(self.table);
        self.table = NULL;
    }
    return self;
}

/* Sums in ranks - 1 steps, then hands the sums on in as many. `count` is a multiple of the ranks. */
static void ring(runtime const* self, float* data, int count) {
    int const right = (self->rank + 1) % self->ranks, left = (self->rank + self->ranks - 1) % self->ranks;
    int const each = count / self->ranks;
    float* incoming = malloc((size_t)each * sizeof *incoming);
    int step = 0, i = 0;
    for (step = 0; step < 2 * (self->ranks - 1); ++step) {
        float* out = data + (self->rank + 2 * self->ranks - step) % self->ranks * each;
        float* in = data + (self->rank + 2 * self->ranks - step - 1) % self->ranks * each;
        MPI_Sendrecv(out, each, MPI_FLOAT, right, 0, incoming, each, MPI_FLOAT, left, 0, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
        for (i = 0; i < each; ++i) {
            in[i] = step < self->ranks - 1 ? in[i] + incoming[i] : incoming[i];
        }
    }
    free(incoming);
}

/* The name of what was used. */
static char const* allreduce(runtime const* self, float* data, int count) {
    dlmb_tuning_query query = DLMB_TUNING_QUERY_INIT;
    dlmb_tuning_choice choice = DLMB_TUNING_CHOICE_INIT;
    query.operation = "allreduce";
    query.scope = "mpi"; /* the best inside MPI; NULL would also weigh other backends */
    query.bytes = (uint64_t)count * sizeof *data;
    query.ranks = self->ranks;
    query.nodes = self->nodes;
    query.memory = "host";
    query.dtype = "fp32";
    query.reduction = "sum";
    if (self->table != NULL && dlmb_tuning_lookup(self->table, &query, &choice) == DLMB_TUNING_MATCH &&
        choice.algorithm != NULL && strcmp(choice.algorithm, "ring") == 0 && count % self->ranks == 0) {
        ring(self, data, count);
        return choice.algorithm;
    }
    MPI_Allreduce(MPI_IN_PLACE, data, count, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
    return "default";
}

int main(int argc, char** argv) {
    static float data[1 << 18];
    int const counts[] = {64, 1 << 16, 1 << 18};
    runtime self;
    int size = 0, i = 0, wrong = 0;
    MPI_Init(&argc, &argv);
    self = start(argc > 1 ? argv[1] : "table.json");
    for (size = 0; size < 3; ++size) {
        char const* used = NULL;
        for (i = 0; i < counts[size]; ++i) {
            data[i] = (float)(self.rank + i % 7);
        }
        used = allreduce(&self, data, counts[size]);
        for (i = 0; i < counts[size]; ++i) {
            wrong += data[i] != (float)(self.ranks * (self.ranks - 1) / 2 + self.ranks * (i % 7));
        }
        if (self.rank == 0) {
            printf("%d floats: %s\n", counts[size], used);
        }
    }
    dlmb_tuning_close(self.table);
    MPI_Finalize();
    return wrong != 0;
}
