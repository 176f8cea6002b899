/* Copyright (c) 2026 The DLMB developers
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Reads a DLMB tuning table: which backend, method and algorithm was measured to be best for an operation. C99; link
 * with -ldlmb_tuning. The table is described in results-schema/README.md, an example of use is in launch/examples.
 *
 * Ranks that get different answers hang. The answer depends on the table and the query alone: give the same file and
 * values that are global to the communicator (never counts of one rank) on all ranks.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* An open table. Never changes, so any number of threads may ask it at the same time. */
typedef struct dlmb_tuning dlmb_tuning;

enum {
    DLMB_TUNING_MATCH = 0,
    DLMB_TUNING_NO_RULE = 1,          /* keep the default; not an error */
    DLMB_TUNING_IO_ERROR = -1,        /* the file cannot be read */
    DLMB_TUNING_SYNTAX_ERROR = -2,    /* not JSON; `dlmb_tune show TABLE` says where */
    DLMB_TUNING_SCHEMA_ERROR = -3,    /* not a valid table; `dlmb_tune show TABLE` says why */
    DLMB_TUNING_SYSTEM_MISMATCH = -4, /* measured on another system */
    DLMB_TUNING_BAD_ARGUMENT = -5 /* a null pointer; a name that no table can have (an operation, scope, memory, dtype
                                     or reduction); a struct_size or number out of range */
};

/* What is known of an operation. Unknown is -1 or NULL, and matches only rules that do not ask for the value.
 * Begin with DLMB_TUNING_QUERY_INIT. Fields are only ever added at the end: struct_size tells which are there. */
typedef struct dlmb_tuning_query {
    uint32_t struct_size;  /* sizeof(dlmb_tuning_query) of the caller */
    int32_t uniform;       /* exchange: 1 if all blocks are equal, else 0 */
    char const* operation; /* allreduce, reduce_scatter, allgather, broadcast, exchange, sendrecv; required */
    char const* scope;     /* NULL: the table selects a backend; else the backend in which to choose a method */
    uint64_t bytes;        /* allreduce, broadcast: the vector on one rank; allgather: the full result;
                              reduce_scatter: the full input; exchange: what one rank sends to all, itself included,
                              mean over ranks; sendrecv: the message */
    int64_t ranks;         /* of the communicator */
    int64_t nodes;         /* that it lies on */
    char const* memory;    /* host, pinned, cuda, managed, nccl, ucx, rocm */
    char const* dtype;     /* byte, int8, int32, int64, fp8, fp16, bf16, fp32, fp64 */
    char const* reduction; /* sum, prod, min, max, user */
    double imbalance;      /* exchange: largest total that a rank sends or receives / mean */
    int32_t in_place;      /* 0 or 1 */
} dlmb_tuning_query;

/* clang-format off */
#define DLMB_TUNING_QUERY_INIT \
    {sizeof(dlmb_tuning_query), -1, NULL, NULL, 0, -1, -1, NULL, NULL, NULL, -1.0, -1}
/* clang-format on */

/* The answer. Texts belong to the table and live until it is closed. Begin with DLMB_TUNING_CHOICE_INIT. */
typedef struct dlmb_tuning_choice {
    uint32_t struct_size;         /* sizeof(dlmb_tuning_choice) of the caller */
    uint32_t reserved;            /* 0 */
    char const* backend;          /* mpi, ucx, nccl ...; NULL without a rule */
    char const* method;           /* "default" or as --method takes it: "pairwise:max_outstanding=4" */
    char const* algorithm;        /* inside the library that the method calls: "ring"; NULL: none */
    char const* algorithm_family; /* "open_mpi.tuned"; NULL: none */
    int64_t algorithm_id;         /* -1: none */
    char const* params;           /* a JSON object: segment_bytes, channels, knobs ...; "{}" without any */
    char const* rule_id;          /* the rule that decided the method; NULL without a rule */
    char const* select_rule_id;   /* the rule that selected the backend; NULL for a query with a scope */
    char const* status;           /* chosen, tie, no_gain, undecided, unconfirmed; NULL without a rule */
    char const* evidence;         /* measured; foreign: numbers of another program, which nothing confirmed; predicted:
                                     by a model, not measured; NULL: a person wrote the rule, or there is none */
} dlmb_tuning_choice;

/* clang-format off */
#define DLMB_TUNING_CHOICE_INIT {sizeof(dlmb_tuning_choice), 0, NULL, NULL, NULL, NULL, -1, NULL, NULL, NULL, NULL, NULL}
/* clang-format on */

/* Reads and checks the table at `path`. `system_key`: the key of this system, which must be that of the table; NULL
 * skips this check. On success *out is a table to be closed, else NULL. Returns 0 or an error from -1 to -5. */
int dlmb_tuning_open(char const* path, char const* system_key, dlmb_tuning** out);

/* Pure and thread safe; allocates nothing. Returns 0 (matched), 1 (no rule: *choice says method "default") or -5; on an
 * error *choice is untouched. */
int dlmb_tuning_lookup(dlmb_tuning const* table, dlmb_tuning_query const* query, dlmb_tuning_choice* choice);

/* What a code of these functions means, in one line: a constant text, never NULL, for any number. */
char const* dlmb_tuning_strerror(int code);

/* Frees the table and every text it gave. NULL is allowed. */
void dlmb_tuning_close(dlmb_tuning* table);

#ifdef __cplusplus
}
#endif
