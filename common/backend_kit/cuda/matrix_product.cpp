// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/backend_kit/cuda/compute_work.hpp"
#include "common/memory/cuda/cuda_check.hpp"
#include "common/memory/memory_space.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cublas_v2.h>
#include <dlfcn.h>
#include <limits>

namespace dlmb {
namespace {

void check(cublasStatus_t status, std::string_view call) {
    if (status != CUBLAS_STATUS_SUCCESS) {
        throw Error(fmt::format("{}: cuBLAS status {}", call, static_cast<int>(status)));
    }
}

/// Half precision in the bytes of the payload would be infinities: ones keep the product finite and the clocks real.
Allocation matrix(std::uint64_t rows, std::uint64_t columns) {
    Bytes const bytes = rows * columns * size_of(Element::bf16);
    Allocation memory = allocate_on_device(bytes);
    constexpr int byte_of_small_numbers = 0x3C;  // every bf16 of two such bytes is 0.0115
    dlmb::check(cudaMemset(memory.data(), byte_of_small_numbers, bytes), "cudaMemset");
    return memory;
}

/// Also keeps the bytes of a matrix within 64 bits.
ProductShape const& fitting(ProductShape const& shape) {
    if (std::max({shape.rows, shape.columns, shape.inner}) > std::numeric_limits<int>::max()) {
        throw Error(fmt::format("a matrix product of {} x {} x {}: cublasGemmEx takes edges of an int", shape.rows,
                                shape.columns, shape.inner));
    }
    return shape;
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

MatrixProduct::MatrixProduct(ProductShape const& shape)
    : shape_(fitting(shape)), library_(std::make_unique<Library>()), a_(matrix(shape.rows, shape.inner)),
      b_(matrix(shape.inner, shape.columns)), c_(matrix(shape.rows, shape.columns)) {}

MatrixProduct::~MatrixProduct() = default;

void MatrixProduct::queue(cudaStream_t stream) {
    float const one = 1;
    float const zero = 0;
    check(library_->set_stream(library_->handle, stream), "cublasSetStream");
    auto const rows = static_cast<int>(shape_.rows);
    auto const columns = static_cast<int>(shape_.columns);
    auto const inner = static_cast<int>(shape_.inner);
    // cuBLAS takes columns one after the other: to it these are the transposed matrices, whose factors change places.
    check(library_->gemm(library_->handle, CUBLAS_OP_N, CUBLAS_OP_N, columns, rows, inner, &one, b_.data(), CUDA_R_16BF,
                         columns, a_.data(), CUDA_R_16BF, inner, &zero, c_.data(), CUDA_R_16BF, columns,
                         CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT),
          "cublasGemmEx");
}

}  // namespace dlmb
