/* Copyright (c) 2026 The DLMB developers
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * The least that a C test needs: an expectation that names its place and counts its failures.
 */
#pragma once

#include <stdio.h>

static int expectation_failures = 0;

#define EXPECT(condition)                                                                                              \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            fprintf(stderr, "%s:%d: not true: %s\n", __FILE__, __LINE__, #condition);                                  \
            ++expectation_failures;                                                                                    \
        }                                                                                                              \
    } while (0)
