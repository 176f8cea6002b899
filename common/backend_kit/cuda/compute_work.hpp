// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// The device work of a Compute step: a thread that spins, rows that are packed or moved, or matrix products by cuBLAS.
// cuBLAS is loaded when the first is asked for: programs start without it.
#pragma once

#include "common/backend_kit/backend.hpp"
#include "common/formats/plan/plan.hpp"
#include "common/memory/memory_space.hpp"

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

/// Rows of numbers and the same rows packed, as addresses on the device.
struct DeviceRows {
    unsigned char* numbers;
    unsigned char* packed;
    std::uint64_t row_numbers;
    std::uint64_t first_block;  // of all blocks of the conversion, in order
};

/// One kernel: by vectors where the rows allow it.
class DeviceConversion {
public:
    /// Throws Error where there is no memory for the table of rows.
    DeviceConversion(Conversion const& conversion, Buffers const& buffers);
    void queue(cudaStream_t stream) const;

private:
    PackDirection direction_;
    BlockFormat format_;
    Element element_;
    bool by_vectors_ = true;
    std::uint64_t blocks_ = 0;
    std::uint32_t tables_ = 0;
    Allocation table_;  // of DeviceRows
};

/// Rows that lie `from_stride` and `to_stride` apart, as addresses on the device.
struct DeviceRun {
    unsigned char const* from;
    unsigned char* to;
    std::uint64_t from_stride;
    std::uint64_t to_stride;
    std::uint64_t first_row;  // of all rows of the rearrangement, in order
};

/// One kernel: a warp per row.
class DeviceRearrangement {
public:
    /// Throws Error where there is no memory for the table of runs.
    DeviceRearrangement(Rearrangement const& rows, Buffers const& buffers);
    void queue(cudaStream_t stream) const;

private:
    Bytes row_bytes_;
    std::uint64_t rows_ = 0;
    std::uint32_t tables_ = 0;
    Allocation table_;  // of DeviceRun
};

}  // namespace dlmb
