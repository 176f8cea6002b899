// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// What Compute steps do on a device besides converting: a thread that spins for their time; and rows that are copied to
// other places, a warp per row, each thread 16 bytes at a time where both ends of the row allow it, else 8.
#include "common/backend_kit/cuda/compute_work.hpp"
#include "common/memory/cuda/cuda_check.hpp"
#include "common/memory/memory_space.hpp"

#include <algorithm>
#include <vector>

namespace dlmb {
namespace {

constexpr unsigned warp = 32;
constexpr unsigned threads_per_block = 256;
constexpr std::uint64_t most_blocks = 4096;

template <class Word>
__device__ void copy_row(unsigned char* to, unsigned char const* from, std::uint64_t bytes, unsigned lane) {
    auto* const words = reinterpret_cast<Word*>(to);
    auto const* const source = reinterpret_cast<Word const*>(from);
#pragma unroll 4
    for (std::uint64_t i = lane; i < bytes / sizeof(Word); i += warp) {
        words[i] = source[i];
    }
}

}  // namespace

extern "C" __global__ void dlmb_spin(long long cycles) {
    long long const start = clock64();
    while (clock64() - start < cycles) {
    }
}

void queue_spin(long long cycles, cudaStream_t stream) {
    dlmb_spin<<<1, 1, 0, stream>>>(cycles);
    check(cudaGetLastError(), "dlmb_spin");
}

extern "C" __global__ void __launch_bounds__(threads_per_block)
    dlmb_rearrange(DeviceRun const* runs, unsigned tables, std::uint64_t rows, std::uint64_t row_bytes) {
    unsigned const lane = threadIdx.x % warp;
    std::uint64_t const warps = std::uint64_t{gridDim.x} * (blockDim.x / warp);
    std::uint64_t row = std::uint64_t{blockIdx.x} * (blockDim.x / warp) + threadIdx.x / warp;
    for (; row < rows; row += warps) {
        unsigned low = 0;
        for (unsigned high = tables; high - low > 1;) {
            unsigned const middle = (low + high) / 2;
            (runs[middle].first_row <= row ? low : high) = middle;
        }
        DeviceRun const& run = runs[low];
        unsigned char const* const from = run.from + (row - run.first_row) * run.from_stride;
        unsigned char* const to = run.to + (row - run.first_row) * run.to_stride;
        auto const ends = reinterpret_cast<std::uintptr_t>(from) | reinterpret_cast<std::uintptr_t>(to) | row_bytes;
        if (ends % sizeof(uint4) == 0) {
            copy_row<uint4>(to, from, row_bytes, lane);
        } else {
            copy_row<std::uint64_t>(to, from, row_bytes, lane);
        }
    }
}

DeviceRearrangement::DeviceRearrangement(Rearrangement const& rows, Buffers const& buffers)
    : row_bytes_(rows.row_bytes), tables_(static_cast<std::uint32_t>(rows.runs.size())) {
    std::vector<DeviceRun> runs;
    for (RowRun const& run : rows.runs) {
        runs.push_back({reinterpret_cast<unsigned char const*>(buffers.base.at(rows.from) + run.from),
                        reinterpret_cast<unsigned char*>(buffers.base.at(rows.to) + run.to), run.from_stride,
                        run.to_stride, rows_});
        rows_ += run.rows;
    }
    if (tables_ > 0) {
        table_ = allocate_on_device(runs.size() * sizeof(DeviceRun));
        check(cudaMemcpy(table_.data(), runs.data(), runs.size() * sizeof(DeviceRun), cudaMemcpyHostToDevice),
              "cudaMemcpy");
    }
}

void DeviceRearrangement::queue(cudaStream_t stream) const {
    if (rows_ == 0) {
        return;
    }
    std::uint64_t const wanted = (rows_ * warp + threads_per_block - 1) / threads_per_block;
    dlmb_rearrange<<<static_cast<unsigned>(std::min(most_blocks, wanted)), threads_per_block, 0, stream>>>(
        reinterpret_cast<DeviceRun const*>(table_.data()), tables_, rows_, row_bytes_);
    check(cudaGetLastError(), "dlmb_rearrange");
}

}  // namespace dlmb
