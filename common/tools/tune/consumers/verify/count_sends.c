// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Loaded with LD_PRELOAD into a rank: counts the messages that it gives UCX between MPI_Pcontrol(1) and MPI_Pcontrol(0)
// and says so when the process ends. Each algorithm of a collective has its own number of messages.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static atomic_int counting;
static atomic_ulong sends;

int MPI_Pcontrol(int level, ...);
void* ucp_tag_send_nbx(void* endpoint, void const* buffer, size_t count, uint64_t tag, void const* param);

int MPI_Pcontrol(int level, ...) {
    atomic_store(&counting, level);
    return 0;
}

void* ucp_tag_send_nbx(void* endpoint, void const* buffer, size_t count, uint64_t tag, void const* param) {
    void* (*real)(void*, void const*, size_t, uint64_t, void const*) = NULL;
    *(void**)&real = dlsym(RTLD_NEXT, "ucp_tag_send_nbx");
    if (real == NULL) {
        char const* const why = dlerror();
        fprintf(stderr, "dlmb-sends: ucp_tag_send_nbx: %s\n", why == NULL ? "not found" : why);
        abort();
    }
    if (atomic_load(&counting) != 0) {
        atomic_fetch_add(&sends, 1);
    }
    return real(endpoint, buffer, count, tag, param);
}

__attribute__((destructor)) static void report(void) {
    fprintf(stderr, "dlmb-sends %lu\n", atomic_load(&sends));
}
