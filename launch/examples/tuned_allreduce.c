/* Copyright (c) 2026 The DLMB developers
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * An allreduce by a ring of its own where a tuning table says so, and by MPI elsewhere. Without a table everything is
 * left to MPI.
 *
 *     mpirun -np 4 ./tuned_allreduce results-schema/examples/tuning-table.json
 */
#include <mpi.h>

#include <dlmb_tuning.h>
#include <stdio.h>
#include <string.h>

static float data[1 << 16], incoming[1 << 16];

/* Sums in ranks - 1 steps, then hands the sums on in as many. `count` is a multiple of the ranks. */
static void ring(int count, int rank, int ranks) {
    int const each = count / ranks;
    for (int step = 0; step < 2 * (ranks - 1); ++step) {
        float* out = data + (rank + 2 * ranks - step) % ranks * each;
        float* in = data + (rank + 2 * ranks - step - 1) % ranks * each;
        MPI_Sendrecv(out, each, MPI_FLOAT, (rank + 1) % ranks, 0, incoming, each, MPI_FLOAT, (rank + ranks - 1) % ranks,
                     0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        for (int i = 0; i < each; ++i) {
            in[i] = step < ranks - 1 ? in[i] + incoming[i] : incoming[i];
        }
    }
}

int main(int argc, char** argv) {
    dlmb_tuning* table = NULL;
    MPI_Comm node;
    int rank, ranks, first, nodes, code, worst, wrong = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    MPI_Comm_rank(node, &first);
    first = first == 0; /* ranks of one node share memory; the first of each counts it */
    MPI_Allreduce(&first, &nodes, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    code = dlmb_tuning_open(argc > 1 ? argv[1] : "table.json", NULL, &table);
    /* A rank without the table would choose differently from the others and hang: all use it or none does. */
    MPI_Allreduce(&code, &worst, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    if (code != 0) {
        fprintf(stderr, "rank %d: the table cannot be used: code %d; dlmb_tune show says why\n", rank, code);
    }
    for (int count = 64; count <= 1 << 16; count *= 1024) {
        dlmb_tuning_query query = DLMB_TUNING_QUERY_INIT;
        dlmb_tuning_choice choice = DLMB_TUNING_CHOICE_INIT;
        for (int i = 0; i < count; ++i) {
            data[i] = (float)(rank + i % 7);
        }
        query.operation = "allreduce";
        query.scope = "mpi"; /* the best inside MPI; NULL would also weigh other backends */
        query.bytes = (uint64_t)count * sizeof *data;
        query.ranks = ranks;
        query.nodes = nodes;
        query.memory = "host";
        query.dtype = "fp32";
        query.reduction = "sum";
        query.in_place = 1;
        if (worst != 0 || count % ranks != 0 || dlmb_tuning_lookup(table, &query, &choice) != DLMB_TUNING_MATCH ||
            choice.algorithm == NULL || strcmp(choice.algorithm, "ring") != 0) {
            MPI_Allreduce(MPI_IN_PLACE, data, count, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
            choice.algorithm = "default";
        } else {
            ring(count, rank, ranks);
        }
        for (int i = 0; i < count; ++i) {
            wrong += data[i] != (float)(ranks * (ranks - 1) / 2 + ranks * (i % 7));
        }
        if (rank == 0) {
            printf("%d floats: %s\n", count, choice.algorithm);
        }
    }
    dlmb_tuning_close(table);
    MPI_Finalize();
    return wrong != 0;
}
