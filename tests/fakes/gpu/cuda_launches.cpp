// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// What nvcc's host code calls to register and launch kernels: cuda_runtime.h's crt/host_runtime.h and
// crt/device_functions.h declare it, the programming guide does not.
#include "tests/fakes/gpu/kernels.hpp"
#include "tests/fakes/gpu/stream.hpp"
#include "tests/fakes/gpu/wrong_use.hpp"

#include <map>
#include <mutex>
#include <string>
#include <vector>
#include <vector_types.h>

using namespace dlmb::fake_gpu;

namespace {

struct Names {
    std::mutex mutex;
    std::map<void const*, std::string> by_function;
};

Names& names() {
    static auto* const only = new Names;
    return *only;
}

struct Configuration {
    dim3 grid, block;
    std::size_t shared_bytes;
    cudaStream_t stream;
};
thread_local std::vector<Configuration> configurations;

std::string name_of(void const* function) {
    std::lock_guard const lock(names().mutex);
    auto const found = names().by_function.find(function);
    if (found == names().by_function.end()) {
        wrong_use("launch of a kernel that was not registered");
    }
    return found->second;
}

}  // namespace

extern "C" {

void** __cudaRegisterFatBinary(void* binary);
void __cudaRegisterFatBinaryEnd(void** handle);
void __cudaUnregisterFatBinary(void** handle);
void __cudaRegisterFunction(void** handle, char const* function, char* device_function, char const* name, int limit,
                            uint3* thread, uint3* block, dim3* block_size, dim3* grid_size, int* warp_size);
unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, std::size_t shared_bytes, CUstream_st* stream);
cudaError_t __cudaPopCallConfiguration(dim3* grid, dim3* block, std::size_t* shared_bytes, void* stream);
cudaError_t __cudaGetKernel(cudaKernel_t* kernel, void const* function);
cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void** arguments, std::size_t shared_bytes,
                               cudaStream_t stream);

void** __cudaRegisterFatBinary(void* binary) {
    return new void*(binary);
}

void __cudaRegisterFatBinaryEnd(void** /*handle*/) {}

void __cudaUnregisterFatBinary(void** handle) {
    delete handle;
}

void __cudaRegisterFunction(void** /*handle*/, char const* function, char* /*device_function*/, char const* name,
                            int /*limit*/, uint3* /*thread*/, uint3* /*block*/, dim3* /*block_size*/,
                            dim3* /*grid_size*/, int* /*warp_size*/) {
    std::lock_guard const lock(names().mutex);
    names().by_function[function] = name;
}

unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, std::size_t shared_bytes, CUstream_st* stream) {
    configurations.push_back({grid, block, shared_bytes, stream});
    return 0;
}

cudaError_t __cudaPopCallConfiguration(dim3* grid, dim3* block, std::size_t* shared_bytes, void* stream) {
    Configuration const configuration = configurations.back();
    configurations.pop_back();
    *grid = configuration.grid;
    *block = configuration.block;
    *shared_bytes = configuration.shared_bytes;
    *static_cast<cudaStream_t*>(stream) = configuration.stream;
    return cudaSuccess;
}

/// A kernel's handle is the address of its host function.
cudaError_t __cudaGetKernel(cudaKernel_t* kernel, void const* function) {
    *kernel = static_cast<cudaKernel_t>(const_cast<void*>(function));
    return cudaSuccess;
}

cudaError_t __cudaLaunchKernel(cudaKernel_t function, dim3 grid, dim3 block, void** arguments, std::size_t shared_bytes,
                               cudaStream_t stream) {
    return cudaLaunchKernel(function, grid, block, arguments, shared_bytes, stream);
}

}  // extern "C"

cudaError_t cudaLaunchKernel(void const* function, dim3 /*grid*/, dim3 /*block*/, void** arguments,
                             std::size_t /*shared_bytes*/, cudaStream_t stream) {
    enqueue(stream_of(stream), kernel(name_of(function), arguments));
    return cudaSuccess;
}
