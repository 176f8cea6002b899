/* Copyright (c) 2026 The DLMB developers
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * A lookup allocates nothing. This program's malloc takes the place of the C library's and counts. Argument: the table
 * of results-schema/examples.
 */
#include "common/formats/table/c/dlmb_tuning.h"
#include "tests/unit/table_c/expect.h"

#include <stdlib.h>

void* __libc_malloc(size_t bytes); /* glibc's own, behind the name that is taken here */

static int allocations = 0;

void* malloc(size_t bytes) {
    ++allocations;
    return __libc_malloc(bytes);
}

int main(int count, char** arguments) {
    static char const* const operations[] = {"allreduce", "reduce_scatter", "allgather",
                                             "broadcast", "exchange",       "sendrecv"};
    dlmb_tuning* table = NULL;
    dlmb_tuning_query query = DLMB_TUNING_QUERY_INIT;
    dlmb_tuning_choice choice = DLMB_TUNING_CHOICE_INIT;
    int before = 0;
    int i = 0;
    if (count != 2 || dlmb_tuning_open(arguments[1], NULL, &table) != 0) {
        fprintf(stderr, "usage: tuning_allocations_test TABLE\n");
        return 64;
    }
    EXPECT(allocations > 0); /* opening allocates: the count works */
    before = allocations;
    query.ranks = 4;
    query.nodes = 1;
    query.memory = "host";
    for (i = 0; i < 6; ++i) {
        query.operation = operations[i];
        EXPECT(dlmb_tuning_lookup(table, &query, &choice) >= 0);
        query.scope = i % 2 == 0 ? "mpi" : NULL;
    }
    EXPECT(allocations == before);
    dlmb_tuning_close(table);
    return expectation_failures == 0 ? 0 : 1;
}
