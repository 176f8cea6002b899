// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "tests/fakes/gpu/call_log.hpp"
#include "tests/fakes/gpu/group_depth.hpp"
#include "tests/fakes/gpu/last_error.hpp"
#include "tests/fakes/gpu/settings.hpp"
#include "tests/fakes/gpu/stream.hpp"

#include <sched.h>

using namespace dlmb::fake_gpu;

cudaError_t cudaStreamCreate(cudaStream_t* stream) {
    if (device_count() == 0) {
        return remember(cudaErrorNoDevice);
    }
    *stream = add_stream();
    return cudaSuccess;
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned /*flags*/) {
    return cudaStreamCreate(stream);
}

cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned /*flags*/, int /*priority*/) {
    return cudaStreamCreate(stream);
}

cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
    *least = 0;
    *greatest = -5;
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

cudaError_t cudaStreamQuery(cudaStream_t handle) {
    note_call("cudaStreamQuery");
    CUstream_st& stream = stream_of(handle);
    if (capture_forbids_this() || stream.capture) {
        return remember(cudaErrorStreamCaptureUnsupported);
    }
    if (stream.queue->idle()) {
        return cudaSuccess;
    }
    sched_yield();
    return cudaErrorNotReady;
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags) {
    note_call("cudaStreamWaitEvent");
    return remember(wait(stream_of(stream), event->mark, (flags & cudaEventWaitExternal) != 0));
}

cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void* data) {
    note_call("cudaLaunchHostFunc");
    enqueue(stream_of(stream), [=] { function(data); });
    return cudaSuccess;
}
