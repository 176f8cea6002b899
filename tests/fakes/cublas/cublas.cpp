// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// A test double of cuBLAS beside that of the CUDA runtime (../gpu): it multiplies nothing, but copies the last byte of
// each matrix to the first one of the result, in stream order, and the runtime's double ends the process where these
// are not in device memory. With DLMB_FAKE_CUBLAS_STATUS=N no handle can be made: cublasCreate returns N.
#include <cuda_runtime_api.h>

#include <atomic>
#include <cstdlib>
#include <cublas_v2.h>

namespace {

struct Handle {
    cudaStream_t stream = nullptr;
};

Handle* as_ours(cublasHandle_t handle) {
    return reinterpret_cast<Handle*>(handle);
}

std::size_t bytes_of(int rows, int columns) {
    constexpr std::size_t bytes_per_bf16 = 2;
    return bytes_per_bf16 * static_cast<std::size_t>(rows) * static_cast<std::size_t>(columns);
}

bool touch_end(void* to, void const* matrix, std::size_t bytes, cudaStream_t stream) {
    return cudaMemcpyAsync(to, static_cast<char const*>(matrix) + bytes - 1, 1, cudaMemcpyDeviceToDevice, stream) ==
           cudaSuccess;
}

std::atomic<int> products{0};
std::atomic<int> latest_m{0};
std::atomic<int> latest_n{0};
std::atomic<int> latest_k{0};

}  // namespace

extern "C" {

/// Products since the start; the sizes of the last one.
int dlmb_fake_cublas_products(int* m, int* n, int* k) {
    *m = latest_m;
    *n = latest_n;
    *k = latest_k;
    return products;
}

cublasStatus_t cublasCreate_v2(cublasHandle_t* handle) {
    if (char const* const status = std::getenv("DLMB_FAKE_CUBLAS_STATUS")) {
        return static_cast<cublasStatus_t>(std::atoi(status));
    }
    *handle = reinterpret_cast<cublasHandle_t>(new Handle);
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasDestroy_v2(cublasHandle_t handle) {
    delete as_ours(handle);
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasSetStream_v2(cublasHandle_t handle, cudaStream_t stream) {
    as_ours(handle)->stream = stream;
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasGemmEx(cublasHandle_t handle, cublasOperation_t /*transa*/, cublasOperation_t /*transb*/, int m,
                            int n, int k, void const* /*alpha*/, void const* a, cudaDataType /*a_type*/, int lda,
                            void const* b, cudaDataType /*b_type*/, int ldb, void const* /*beta*/, void* c,
                            cudaDataType /*c_type*/, int ldc, cublasComputeType_t /*compute*/,
                            cublasGemmAlgo_t /*algorithm*/) {
    if (lda < m || ldb < k || ldc < m) {
        return CUBLAS_STATUS_INVALID_VALUE;
    }
    cudaStream_t const stream = as_ours(handle)->stream;
    ++products;
    latest_m = m;
    latest_n = n;
    latest_k = k;
    bool const done = touch_end(c, a, bytes_of(m, k), stream) && touch_end(c, b, bytes_of(k, n), stream) &&
                      touch_end(c, c, bytes_of(m, n), stream);
    return done ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_EXECUTION_FAILED;
}

}  // extern "C"
