// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// A test double of one function of the MPI library: it says that MPI takes device memory. True for the device memory of
// the test double of CUDA, which is memory of the process. The program's definition comes before the library's.
// NOLINTBEGIN(readability-identifier-naming): the libraries' names
extern "C" {

int MPIX_Query_cuda_support() {  // Open MPI
    return 1;
}

int MPIX_GPU_query_support(int /*kind*/, int* supported) {  // MPICH
    *supported = 1;
    return 0;
}

}  // extern "C"

// NOLINTEND(readability-identifier-naming)
