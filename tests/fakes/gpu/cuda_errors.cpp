// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "tests/fakes/gpu/last_error.hpp"

#include <fmt/core.h>

#include <utility>

namespace dlmb::fake_gpu {
namespace {

thread_local cudaError_t last = cudaSuccess;

struct Text {
    cudaError_t code;
    char const* meaning;
};

constexpr Text texts[] = {
    {cudaSuccess, "no error"},
    {cudaErrorInvalidValue, "invalid argument"},
    {cudaErrorMemoryAllocation, "out of memory"},
    {cudaErrorNoDevice, "no CUDA-capable device is detected"},
    {cudaErrorInvalidDevice, "invalid device ordinal"},
    {cudaErrorNotReady, "device not ready"},
    {cudaErrorInvalidResourceHandle, "invalid resource handle"},
    {cudaErrorStreamCaptureUnsupported, "operation not permitted when stream is capturing"},
    {cudaErrorStreamCaptureInvalidated, "operation failed due to a previous error during capture"},
    {cudaErrorStreamCaptureUnjoined, "capture has work that was not joined"},
    {cudaErrorHostMemoryAlreadyRegistered, "part or all of the requested memory range is already mapped"},
    {cudaErrorHostMemoryNotRegistered, "pointer does not correspond to a registered memory region"},
    {cudaErrorIllegalState, "the operation cannot be performed in the present state"},
    {cudaErrorNotSupported, "operation not supported"},
    {cudaErrorStreamCaptureUnmatched, "capture was not initiated in this stream"},
    {cudaErrorStreamCaptureIsolation, "dependency crosses the border of a capture"},
    {cudaErrorCapturedEvent, "operation not permitted on an event of a capture"},
};

}  // namespace

cudaError_t remember(cudaError_t code) {
    if (code != cudaSuccess && code != cudaErrorNotReady) {
        last = code;
    }
    return code;
}

}  // namespace dlmb::fake_gpu

using namespace dlmb::fake_gpu;

cudaError_t cudaGetLastError() {
    return std::exchange(last, cudaSuccess);
}

char const* cudaGetErrorString(cudaError_t error) {
    for (Text const& text : texts) {
        if (text.code == error) {
            return text.meaning;
        }
    }
    return "an error that the GPU test double has no text for";
}
