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
    char const* name;
    char const* meaning;
};

constexpr Text texts[] = {
    {cudaSuccess, "cudaSuccess", "no error"},
    {cudaErrorInvalidValue, "cudaErrorInvalidValue", "invalid argument"},
    {cudaErrorMemoryAllocation, "cudaErrorMemoryAllocation", "out of memory"},
    {cudaErrorNoDevice, "cudaErrorNoDevice", "no CUDA-capable device is detected"},
    {cudaErrorInvalidDevice, "cudaErrorInvalidDevice", "invalid device ordinal"},
    {cudaErrorNotReady, "cudaErrorNotReady", "device not ready"},
    {cudaErrorInvalidResourceHandle, "cudaErrorInvalidResourceHandle", "invalid resource handle"},
    {cudaErrorStreamCaptureUnsupported, "cudaErrorStreamCaptureUnsupported",
     "operation not permitted when stream is capturing"},
    {cudaErrorStreamCaptureInvalidated, "cudaErrorStreamCaptureInvalidated",
     "operation failed due to a previous error during capture"},
    {cudaErrorStreamCaptureUnjoined, "cudaErrorStreamCaptureUnjoined", "capture has work that was not joined"},
    {cudaErrorHostMemoryAlreadyRegistered, "cudaErrorHostMemoryAlreadyRegistered",
     "part or all of the requested memory range is already mapped"},
    {cudaErrorHostMemoryNotRegistered, "cudaErrorHostMemoryNotRegistered",
     "pointer does not correspond to a registered memory region"},
    {cudaErrorIllegalState, "cudaErrorIllegalState", "the operation cannot be performed in the present state"},
    {cudaErrorNotSupported, "cudaErrorNotSupported", "operation not supported"},
    {cudaErrorStreamCaptureUnmatched, "cudaErrorStreamCaptureUnmatched", "capture was not initiated in this stream"},
    {cudaErrorStreamCaptureIsolation, "cudaErrorStreamCaptureIsolation", "dependency crosses the border of a capture"},
    {cudaErrorCapturedEvent, "cudaErrorCapturedEvent", "operation not permitted on an event of a capture"},
};

Text text_of(cudaError_t code) {
    for (Text const& text : texts) {
        if (text.code == code) {
            return text;
        }
    }
    return {code, "cudaErrorUnknown", "an error that the GPU test double has no text for"};
}

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

cudaError_t cudaPeekAtLastError() {
    return last;
}

char const* cudaGetErrorString(cudaError_t error) {
    return text_of(error).meaning;
}

char const* cudaGetErrorName(cudaError_t error) {
    return text_of(error).name;
}
