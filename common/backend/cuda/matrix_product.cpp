// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/backend/cuda/matrix_product.hpp"

#include "common/memory/cuda/cuda_check.hpp"
#include "common/memory/cuda_memory.hpp"

#include <fmt/core.h>

#include <cublas_v2.h>
#include <dlfcn.h>

namespace dlmb {
namespace {

void check(cublasStatus_t status, std::string_view call) {
    if (status != CUBLAS_STATUS_SUCCESS) {
        throw Error(fmt::format("{}: cuBLAS status {}", call, static_cast<int>(status)));
    }
}

constexpr Bytes matrix_bytes = Bytes{2} * MatrixProduct::matrix_edge * MatrixProduct::matrix_edge;

/// Half precision in the bytes of the payload would be infinities: ones keep the product finite and the clocks real.
Allocation matrix() {
    Allocation memory = allocate_on_device(matrix_bytes);
    constexpr int byte_of_small_numbers = 0x3C;  // every bf16 of two such bytes is 0.0115
    dlmb::check(cudaMemset(memory.data(), byte_of_small_numbers, matrix_bytes), "cudaMemset");
    return memory;
}

}  // namespace

struct MatrixProduct::Library {
    Library() {
        std::string const name = fmt::format("libcublas.so.{}", CUBLAS_VER_MAJOR);
        library = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
        if (library == nullptr) {
            throw Error(fmt::format("compute steps of kind gemm need {}: {}", name, dlerror()));
        }
        find("cublasCreate_v2", create);
        find("cublasDestroy_v2", destroy);
        find("cublasSetStream_v2", set_stream);
        find("cublasGemmEx", gemm);
        check(create(&handle), "cublasCreate");
    }
    Library(Library const&) = delete;
    Library& operator=(Library const&) = delete;
    ~Library() { destroy(handle); }

    template <class Function>
    void find(char const* name, Function& function) {
        function = reinterpret_cast<Function>(dlsym(library, name));
        if (function == nullptr) {
            throw Error(fmt::format("cuBLAS has no {}", name));
        }
    }

    void* library = nullptr;  // never closed: CUDA libraries do not survive it
    decltype(&cublasCreate_v2) create = nullptr;
    decltype(&cublasDestroy_v2) destroy = nullptr;
    decltype(&cublasSetStream_v2) set_stream = nullptr;
    cublasStatus_t (*gemm)(cublasHandle_t, cublasOperation_t, cublasOperation_t, int, int, int, void const*,
                           void const*, cudaDataType, int, void const*, cudaDataType, int, void const*, void*,
                           cudaDataType, int, cublasComputeType_t, cublasGemmAlgo_t) = nullptr;
    cublasHandle_t handle = nullptr;
};

MatrixProduct::MatrixProduct() : library_(std::make_unique<Library>()), a_(matrix()), b_(matrix()), c_(matrix()) {}

MatrixProduct::~MatrixProduct() = default;

void MatrixProduct::queue(cudaStream_t stream) {
    float const one = 1;
    float const zero = 0;
    check(library_->set_stream(library_->handle, stream), "cublasSetStream");
    check(library_->gemm(library_->handle, CUBLAS_OP_N, CUBLAS_OP_N, matrix_edge, matrix_edge, matrix_edge, &one,
                         a_.data(), CUDA_R_16BF, matrix_edge, b_.data(), CUDA_R_16BF, matrix_edge, &zero, c_.data(),
                         CUDA_R_16BF, matrix_edge, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT),
          "cublasGemmEx");
}

}  // namespace dlmb
