// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "tests/fakes/gpu/call_log.hpp"
#include "tests/fakes/gpu/last_error.hpp"
#include "tests/fakes/gpu/settings.hpp"
#include "tests/fakes/gpu/stream.hpp"

#include <sched.h>

using namespace dlmb::fake_gpu;

namespace {

cudaError_t query(CUevent_st const& event) {
    if (event.mark.captured) {
        return remember(cudaErrorCapturedEvent);
    }
    if (capture_forbids_this()) {
        return remember(cudaErrorStreamCaptureUnsupported);
    }
    if (event.mark.state->is_reached()) {
        return cudaSuccess;
    }
    sched_yield();  // what the host polls for is done by threads of the same two cores
    return cudaErrorNotReady;
}

}  // namespace

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned flags) {
    if (device_count() == 0) {
        return remember(cudaErrorNoDevice);
    }
    *event = new CUevent_st{{}, (flags & cudaEventDisableTiming) == 0};
    return cudaSuccess;
}

cudaError_t cudaEventDestroy(cudaEvent_t event) {
    delete event;
    return cudaSuccess;
}

cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream, unsigned flags) {
    note_call("cudaEventRecord", event->timing ? "timed" : "untimed");
    record(event->mark, stream_of(stream), (flags & cudaEventRecordExternal) != 0);
    return cudaSuccess;
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
    return cudaEventRecordWithFlags(event, stream, cudaEventRecordDefault);
}

cudaError_t cudaEventQuery(cudaEvent_t event) {
    cudaError_t const code = query(*event);
    note_call("cudaEventQuery", code == cudaErrorNotReady ? "not ready" : "");
    return code;
}

cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t start, cudaEvent_t end) {
    note_call("cudaEventElapsedTime");
    for (CUevent_st const* const event : {start, end}) {
        if (!event->timing || event->mark.captured || event->mark.state->last_issued() == 0) {
            return remember(cudaErrorInvalidResourceHandle);
        }
        if (!event->mark.state->is_reached()) {
            return cudaErrorNotReady;
        }
    }
    *milliseconds = static_cast<float>(end->mark.state->time_ns() - start->mark.state->time_ns()) / 1e6F;
    return cudaSuccess;
}
