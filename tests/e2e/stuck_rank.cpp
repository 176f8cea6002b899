// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// To be loaded before the MPI library: rank 1 stays for ever before the call that DLMB_TEST_STUCK_IN names, or rank 0
// before its first MPI_Iallreduce after the results file that DLMB_TEST_STUCK_AFTER_CELL names has a cell.
#include <mpi.h>

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string_view>
#include <unistd.h>

namespace {

bool is_rank(std::string_view wanted) {
    for (char const* const name : {"OMPI_COMM_WORLD_RANK", "PMI_RANK"}) {
        if (char const* const rank = std::getenv(name); rank != nullptr) {
            return rank == wanted;
        }
    }
    return false;
}

bool has_cell(char const* file) {
    std::stringstream text;
    text << std::ifstream(file).rdbuf();
    return text.str().find("\"kind\":\"cell\"") != std::string::npos;
}

void stay_in(std::string_view call) {
    char const* const wanted = std::getenv("DLMB_TEST_STUCK_IN");
    while (wanted != nullptr && call == wanted && is_rank("1")) {
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

extern "C" int MPI_Iallreduce(void const* send, void* recv, int count, MPI_Datatype type, MPI_Op operation,
                              MPI_Comm comm, MPI_Request* request) {
    char const* const file = std::getenv("DLMB_TEST_STUCK_AFTER_CELL");
    while (file != nullptr && is_rank("0") && has_cell(file)) {
        pause();
    }
    return PMPI_Iallreduce(send, recv, count, type, operation, comm, request);
}
