/* Copyright (c) 2026 The DLMB developers
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * libdlmb_tuning as a C99 program uses it. Arguments: the table of results-schema/examples, an empty folder.
 */
#include "common/formats/table/c/dlmb_tuning.h"
#include "tests/unit/table_c/expect.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { thread_count = 8, rounds = 200, powers = 64 };

static dlmb_tuning* table = NULL;
static char const* folder = NULL;

/* r002 of the example: ring for 64 to 512 KiB on 4 ranks of one node. */
static dlmb_tuning_query ring_query(void) {
    dlmb_tuning_query query = DLMB_TUNING_QUERY_INIT;
    query.operation = "allreduce";
    query.scope = "mpi";
    query.bytes = 65536;
    query.ranks = 4;
    query.nodes = 1;
    query.memory = "host";
    query.dtype = "fp32";
    query.reduction = "sum";
    return query;
}

static int code_of(dlmb_tuning_query query) {
    dlmb_tuning_choice choice = DLMB_TUNING_CHOICE_INIT;
    return dlmb_tuning_lookup(table, &query, &choice);
}

static char const* written(char const* name, char const* text) {
    static char path[4096];
    FILE* file = NULL;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    file = fopen(path, "w");
    EXPECT(file != NULL && fputs(text, file) >= 0 && fclose(file) == 0);
    return path;
}

static int open_code(char const* path, char const* system_key) {
    dlmb_tuning* opened = table; /* must become NULL */
    int const code = dlmb_tuning_open(path, system_key, &opened);
    EXPECT((code == 0) == (opened != NULL));
    dlmb_tuning_close(opened);
    return code;
}

static void opening_has_a_code_for_each_fault(char const* path) {
    EXPECT(open_code(path, NULL) == 0);
    EXPECT(open_code(path, "00112233aabbccdd") == 0);
    EXPECT(open_code(path, "another") == DLMB_TUNING_SYSTEM_MISMATCH);
    EXPECT(open_code(path, "") == DLMB_TUNING_SYSTEM_MISMATCH);
    EXPECT(open_code(NULL, NULL) == DLMB_TUNING_BAD_ARGUMENT);
    EXPECT(dlmb_tuning_open(path, NULL, NULL) == DLMB_TUNING_BAD_ARGUMENT);
    EXPECT(open_code("there is no such file", NULL) == DLMB_TUNING_IO_ERROR);
    EXPECT(open_code(folder, NULL) == DLMB_TUNING_IO_ERROR);
    EXPECT(open_code(written("syntax.json", "{"), NULL) == DLMB_TUNING_SYNTAX_ERROR);
    EXPECT(open_code(written("schema.json", "{}"), NULL) == DLMB_TUNING_SCHEMA_ERROR);
}

static void a_match_tells_all_of_the_choice(void) {
    dlmb_tuning_query const query = ring_query();
    dlmb_tuning_choice choice = DLMB_TUNING_CHOICE_INIT;
    EXPECT(dlmb_tuning_lookup(table, &query, &choice) == DLMB_TUNING_MATCH);
    EXPECT(strcmp(choice.backend, "mpi") == 0);
    EXPECT(strcmp(choice.method, "blocking") == 0);
    EXPECT(strcmp(choice.algorithm, "ring") == 0);
    EXPECT(strcmp(choice.algorithm_family, "open_mpi.tuned") == 0);
    EXPECT(choice.algorithm_id == 4);
    EXPECT(strcmp(choice.params, "{\"segment_bytes\":0}") == 0);
    EXPECT(strcmp(choice.rule_id, "r002") == 0);
    EXPECT(choice.select_rule_id == NULL);
    EXPECT(strcmp(choice.status, "chosen") == 0);
}

static void every_code_has_a_text(void) {
    int code = 0;
    for (code = -6; code <= 2; ++code) {
        EXPECT(dlmb_tuning_strerror(code) != NULL && strlen(dlmb_tuning_strerror(code)) > 5);
    }
    EXPECT(strcmp(dlmb_tuning_strerror(-5), dlmb_tuning_strerror(-4)) != 0);
    EXPECT(strcmp(dlmb_tuning_strerror(-99), dlmb_tuning_strerror(99)) == 0);
}

static void no_rule_means_the_default(void) {
    dlmb_tuning_query query = ring_query();
    dlmb_tuning_choice choice = DLMB_TUNING_CHOICE_INIT;
    query.ranks = 5;
    EXPECT(dlmb_tuning_lookup(table, &query, &choice) == DLMB_TUNING_NO_RULE);
    EXPECT(choice.backend == NULL && choice.algorithm == NULL && choice.rule_id == NULL && choice.status == NULL);
    EXPECT(strcmp(choice.method, "default") == 0);
    EXPECT(strcmp(choice.params, "{}") == 0);
    EXPECT(choice.algorithm_id == -1);
}

static void wrong_arguments_are_refused(void) {
    dlmb_tuning_query query = ring_query();
    dlmb_tuning_choice choice = DLMB_TUNING_CHOICE_INIT;
    EXPECT(dlmb_tuning_lookup(NULL, &query, &choice) == DLMB_TUNING_BAD_ARGUMENT);
    EXPECT(dlmb_tuning_lookup(table, NULL, &choice) == DLMB_TUNING_BAD_ARGUMENT);
    EXPECT(dlmb_tuning_lookup(table, &query, NULL) == DLMB_TUNING_BAD_ARGUMENT);
    query.operation = NULL;
    EXPECT(code_of(query) == DLMB_TUNING_BAD_ARGUMENT);
    query.operation = "all_reduce";
    EXPECT(code_of(query) == DLMB_TUNING_BAD_ARGUMENT);
    query = ring_query();
    query.ranks = -2;
    EXPECT(code_of(query) == DLMB_TUNING_BAD_ARGUMENT);
    query = ring_query();
    query.in_place = 2;
    EXPECT(code_of(query) == DLMB_TUNING_BAD_ARGUMENT);
    query = ring_query();
    query.struct_size = 0;
    EXPECT(code_of(query) == DLMB_TUNING_BAD_ARGUMENT);
    query.struct_size = UINT32_MAX;
    EXPECT(code_of(query) == DLMB_TUNING_BAD_ARGUMENT);
    dlmb_tuning_close(NULL);
}

static void an_older_caller_knows_less_and_gets_less(void) {
    dlmb_tuning_query query = ring_query();
    dlmb_tuning_choice choice = DLMB_TUNING_CHOICE_INIT;
    query.struct_size = (uint32_t)offsetof(dlmb_tuning_query, memory); /* all behind nodes is unknown */
    EXPECT(code_of(query) == DLMB_TUNING_NO_RULE);
    query = ring_query();
    query.struct_size = (uint32_t)offsetof(dlmb_tuning_query, imbalance);
    choice.struct_size = (uint32_t)offsetof(dlmb_tuning_choice, algorithm);
    choice.algorithm = "untouched";
    EXPECT(dlmb_tuning_lookup(table, &query, &choice) == DLMB_TUNING_MATCH);
    EXPECT(strcmp(choice.method, "blocking") == 0);
    EXPECT(strcmp(choice.algorithm, "untouched") == 0);
    EXPECT(choice.struct_size == offsetof(dlmb_tuning_choice, algorithm));
}

static void a_newer_caller_gets_zeros_for_what_only_it_knows(void) {
    struct {
        dlmb_tuning_query known;
        char const* later;
    } query;
    struct {
        dlmb_tuning_choice known;
        char const* later;
    } choice;
    query.known = ring_query();
    query.known.struct_size = sizeof query;
    query.later = "a key of a later version";
    choice.known.struct_size = sizeof choice;
    choice.later = "not zero";
    EXPECT(dlmb_tuning_lookup(table, &query.known, &choice.known) == DLMB_TUNING_MATCH);
    EXPECT(strcmp(choice.known.rule_id, "r002") == 0);
    EXPECT(choice.later == NULL);
}

static char const* answers[powers];

/* The rule of a message of that power of two; texts of a table have one address. */
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
        for (power = 0; power < powers; ++power) {
            *(int*)wrong += answer_of(power) != answers[power];
        }
    }
    return NULL;
}

static void threads_get_the_answers_of_one_thread(void) {
    pthread_t threads[thread_count];
    int wrong[thread_count] = {0};
    int i = 0;
    for (i = 0; i < powers; ++i) {
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
}

int main(int count, char** arguments) {
    if (count != 3) {
        fprintf(stderr, "usage: tuning_c99_test TABLE FOLDER\n");
        return 64;
    }
    folder = arguments[2];
    EXPECT(dlmb_tuning_open(arguments[1], NULL, &table) == 0);
    opening_has_a_code_for_each_fault(arguments[1]);
    a_match_tells_all_of_the_choice();
    every_code_has_a_text();
    no_rule_means_the_default();
    wrong_arguments_are_refused();
    an_older_caller_knows_less_and_gets_less();
    a_newer_caller_gets_zeros_for_what_only_it_knows();
    threads_get_the_answers_of_one_thread();
    dlmb_tuning_close(table);
    return expectation_failures == 0 ? 0 : 1;
}
