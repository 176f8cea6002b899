/* Copyright (c) 2026 The DLMB developers
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Eight threads ask one table at the same time and all get the answers of one thread. Argument: the table of
 * results-schema/examples.
 */
#include "common/formats/table/c/dlmb_tuning.h"
#include "tests/unit/table_c/expect.h"

#include <pthread.h>
#include <string.h>

enum { thread_count = 8, rounds = 200, sizes = 64 };

static dlmb_tuning* table = NULL;
static char const* answers[sizes];

/* The rule for each power of two; texts of a table have one address. */
static char const* answer_of(int power) {
    dlmb_tuning_query query = DLMB_TUNING_QUERY_INIT;
    dlmb_tuning_choice choice = DLMB_TUNING_CHOICE_INIT;
    query.operation = "sendrecv";
    query.scope = "ucx";
    query.bytes = UINT64_C(1) << power;
    query.nodes = 2;
    return dlmb_tuning_lookup(table, &query, &choice) == DLMB_TUNING_MATCH ? choice.rule_id : NULL;
}

static void* ask(void* wrong) {
    int round = 0;
    int power = 0;
    for (round = 0; round < rounds; ++round) {
        for (power = 0; power < sizes; ++power) {
            *(int*)wrong += answer_of(power) != answers[power];
        }
    }
    return NULL;
}

int main(int count, char** arguments) {
    pthread_t threads[thread_count];
    int wrong[thread_count] = {0};
    int i = 0;
    if (count != 2 || dlmb_tuning_open(arguments[1], NULL, &table) != 0) {
        fprintf(stderr, "usage: tuning_threads_test TABLE\n");
        return 64;
    }
    for (i = 0; i < sizes; ++i) {
        answers[i] = answer_of(i);
    }
    EXPECT(answers[13] == NULL && answers[14] != NULL && strcmp(answers[63], "r005") == 0); /* from 16 KiB */
    for (i = 0; i < thread_count; ++i) {
        EXPECT(pthread_create(&threads[i], NULL, ask, &wrong[i]) == 0);
    }
    for (i = 0; i < thread_count; ++i) {
        EXPECT(pthread_join(threads[i], NULL) == 0);
        EXPECT(wrong[i] == 0);
    }
    dlmb_tuning_close(table);
    return expectation_failures == 0 ? 0 : 1;
}
