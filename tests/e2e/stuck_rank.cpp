// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// To be loaded before the MPI library: rank 1 stays for ever before the call that DLMB_TEST_STUCK_IN names.
#include <mpi.h>

#include <cstdlib>
#include <string_view>
#include <unistd.h>

namespace {

bool is_rank_1() {
    for (char const* const name : {"OMPI_COMM_WORLD_RANK", "PMI_RANK"}) {
        if (char const* const rank = std::getenv(name); rank != nullptr) {
            return std::string_view(rank) == "1";
        }
    }
    return false;
}

void stay_in(std::string_view call) {
    char const* const wanted = std::getenv("DLMB_TEST_STUCK_IN");
    while (wanted != nullptr && call == wanted && is_rank_1()) {
        pause();
    }
}

}  // namespace

extern "C" int MPI_Init_thread(int* argc, char*** argv, int required, int* provided) {
    stay_in("MPI_Init_thread");
    return PMPI_Init_thread(argc, argv, required, provided);
}

extern "C" int MPI_Finalize() {
    stay_in("MPI_Finalize");
    return PMPI_Finalize();
}
