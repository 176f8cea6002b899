// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// "Device memory": address ranges of this process. With DLMB_FAKE_GPU_PROTECT=1 the addresses that the program sees
// cannot be touched and the bytes lie elsewhere, so that a program that treats device memory as its own crashes here
// as it would on a machine with a GPU.
#pragma once

#include <cstddef>
#include <optional>

namespace dlmb::fake_gpu {

/// nccl: device memory that ncclMemAlloc gave.
enum class Kind { device, managed, nccl };

struct Block {
    std::byte* data = nullptr;  // as the program names it
    std::size_t bytes = 0;
    Kind kind = Kind::device;
    int device = 0;
};

/// The device that the calling thread uses: cudaSetDevice's.
[[nodiscard]] int thread_device();
void set_thread_device(int device);

/// On the device of this thread; nullptr: the device is full.
[[nodiscard]] std::byte* allocate(std::size_t bytes, Kind kind);
/// False: nothing was allocated there.
[[nodiscard]] bool release(void* data);
/// The allocation that `address` lies in.
[[nodiscard]] std::optional<Block> find_block(void const* address);
[[nodiscard]] std::size_t free_bytes(int device);

/// Where the bytes are that the program names `address`; host memory is where it says.
[[nodiscard]] std::byte* view(void* address);
[[nodiscard]] std::byte const* view(void const* address);

/// Ends the process unless all bytes lie in one allocation of device memory. `what` names the call and the argument.
void require_device_memory(void const* data, std::size_t bytes, char const* what);
/// The same, where pinned memory will do as well.
void require_reachable_memory(void const* data, std::size_t bytes, char const* what);

}  // namespace dlmb::fake_gpu
