// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// What a Compute step queues: a thread that spins, or matrix products by cuBLAS, which is loaded when the first is
// asked for: programs start without it.
#pragma once

#include "common/memory/memory_space.hpp"
#include "common/plan/plan.hpp"

#include <cuda_runtime_api.h>

#include <memory>

namespace dlmb {

/// One thread that watches the clock of its multiprocessor for `cycles`.
void queue_spin(long long cycles, cudaStream_t stream);

/// c = a b: row-major bf16 matrices, accumulated in float.
class MatrixProduct {
public:
    /// Throws Error where cuBLAS cannot be loaded, an edge is above an int, or there is no memory for the matrices.
    explicit MatrixProduct(ProductShape const& shape);
    MatrixProduct(MatrixProduct const&) = delete;
    MatrixProduct& operator=(MatrixProduct const&) = delete;
    ~MatrixProduct();

    void queue(cudaStream_t stream);
    [[nodiscard]] ProductShape const& shape() const { return shape_; }

private:
    struct Library;
    ProductShape shape_;
    std::unique_ptr<Library> library_;
    Allocation a_;
    Allocation b_;
    Allocation c_;
};

}  // namespace dlmb
