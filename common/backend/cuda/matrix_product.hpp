// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Matrix products by cuBLAS, which is loaded when the first is asked for: programs start without it.
#pragma once

#include "common/memory/memory_space.hpp"

#include <cuda_runtime_api.h>

#include <memory>

namespace dlmb {

/// c = a b, square bf16 matrices of edge `matrix_edge`, accumulated in float.
class MatrixProduct {
public:
    static constexpr int matrix_edge = 2048;
    MatrixProduct();  // throws Error where cuBLAS cannot be loaded
    MatrixProduct(MatrixProduct const&) = delete;
    MatrixProduct& operator=(MatrixProduct const&) = delete;
    ~MatrixProduct();
    void queue(cudaStream_t stream);

private:
    struct Library;
    std::unique_ptr<Library> library_;
    Allocation a_;
    Allocation b_;
    Allocation c_;
};

}  // namespace dlmb
