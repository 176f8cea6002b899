// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "tests/fakes/gpu/call_log.hpp"
#include "tests/fakes/gpu/device_memory.hpp"
#include "tests/fakes/gpu/last_error.hpp"
#include "tests/fakes/gpu/pinned_memory.hpp"
#include "tests/fakes/gpu/stream.hpp"

#include <cstring>
#include <memory>
#include <vector>

using namespace dlmb::fake_gpu;

namespace {

/// Host memory that the device cannot reach by itself.
bool is_pageable(void const* data, std::size_t bytes) {
    return !find_block(data) && !is_pinned(data, bytes);
}

void require_copyable(void const* data, std::size_t bytes, char const* what) {
    if (find_block(data)) {
        require_device_memory(data, bytes, what);
    }
}

/// The runtime stages what it reads from pageable memory before it returns.
void queue_copy(CUstream_st& stream, void* to, void const* from, std::size_t bytes) {
    if (is_pageable(from, bytes)) {
        auto const* const begin = static_cast<std::byte const*>(from);
        auto staged = std::make_shared<std::vector<std::byte>>(begin, begin + bytes);
        enqueue(stream, [=] { std::memcpy(view(to), staged->data(), bytes); });
    } else {
        enqueue(stream, [=] { std::memmove(view(to), view(from), bytes); });
    }
}

}  // namespace

cudaError_t cudaMemcpyAsync(void* to, void const* from, std::size_t bytes, cudaMemcpyKind /*kind*/,
                            cudaStream_t handle) {
    note_call("cudaMemcpyAsync");
    CUstream_st& stream = stream_of(handle);
    require_copyable(to, bytes, "cudaMemcpyAsync, destination");
    require_copyable(from, bytes, "cudaMemcpyAsync, source");
    bool const returns_when_done = is_pageable(to, bytes);
    if (stream.capture && (returns_when_done || is_pageable(from, bytes))) {
        stream.capture->broken = true;
        return remember(cudaErrorStreamCaptureUnsupported);
    }
    queue_copy(stream, to, from, bytes);
    if (returns_when_done) {
        stream.queue->drain();
    }
    return cudaSuccess;
}

cudaError_t cudaMemcpy(void* to, void const* from, std::size_t bytes, cudaMemcpyKind kind) {
    if (capture_forbids_this()) {
        return remember(cudaErrorStreamCaptureUnsupported);
    }
    cudaError_t const code = cudaMemcpyAsync(to, from, bytes, kind, nullptr);
    stream_of(nullptr).queue->drain();
    return code;
}

cudaError_t cudaMemsetAsync(void* data, int value, std::size_t bytes, cudaStream_t stream) {
    note_call("cudaMemsetAsync");
    require_reachable_memory(data, bytes, "cudaMemsetAsync");
    enqueue(stream_of(stream), [=] { std::memset(view(data), value, bytes); });
    return cudaSuccess;
}

/// For device memory asynchronous to the host, in the default stream.
cudaError_t cudaMemset(void* data, int value, std::size_t bytes) {
    if (capture_forbids_this()) {
        return remember(cudaErrorStreamCaptureUnsupported);
    }
    return cudaMemsetAsync(data, value, bytes, nullptr);
}
