// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "tests/fakes/gpu/call_log.hpp"
#include "tests/fakes/gpu/group.hpp"
#include "tests/fakes/gpu/last_error.hpp"
#include "tests/fakes/gpu/settings.hpp"
#include "tests/fakes/gpu/stream.hpp"

using namespace dlmb::fake_gpu;

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned /*flags*/) {
    if (device_count() == 0) {
        return remember(cudaErrorNoDevice);
    }
    *stream = add_stream();
    return cudaSuccess;
}

cudaError_t cudaStreamDestroy(cudaStream_t stream) {
    remove_stream(stream);
    return cudaSuccess;
}

cudaError_t cudaStreamSynchronize(cudaStream_t handle) {
    note_call("cudaStreamSynchronize");
    require_no_open_group("cudaStreamSynchronize");
    CUstream_st& stream = stream_of(handle);
    if (capture_forbids_this() || stream.capture) {
        return remember(cudaErrorStreamCaptureUnsupported);
    }
    stream.queue->drain();
    return cudaSuccess;
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned /*flags*/) {
    note_call("cudaStreamWaitEvent");
    return remember(wait(stream_of(stream), event->mark));
}
