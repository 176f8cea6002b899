/* Copyright (c) 2026 The DLMB developers
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * The smallest program that asks a table, written as a user of the installed package writes it.
 */
#include <dlmb_tuning.h>
#include <stdio.h>

int main(int count, char** arguments) {
    dlmb_tuning* table = NULL;
    dlmb_tuning_query query = DLMB_TUNING_QUERY_INIT;
    dlmb_tuning_choice choice = DLMB_TUNING_CHOICE_INIT;
    if (count != 2 || dlmb_tuning_open(arguments[1], NULL, &table) != 0) {
        return 1;
    }
    query.operation = "allreduce";
    query.scope = "mpi";
    query.bytes = 262144;
    query.ranks = 4;
    query.nodes = 1;
    query.memory = "host";
    query.dtype = "fp32";
    query.reduction = "sum";
    if (dlmb_tuning_lookup(table, &query, &choice) == DLMB_TUNING_MATCH && choice.algorithm != NULL) {
        printf("%s\n", choice.algorithm);
    }
    dlmb_tuning_close(table);
    return 0;
}
