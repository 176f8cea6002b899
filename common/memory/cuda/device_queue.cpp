// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/memory/device_queue.hpp"

#include "common/memory/cuda/cuda_check.hpp"
#include "common/memory/cuda/kernels.hpp"

#include <new>

namespace dlmb {
namespace {

cudaEvent_t event_of(DeviceEvent const& event) {
    return static_cast<cudaEvent_t>(event.native());
}

}  // namespace

DeviceEvent::DeviceEvent(bool timed) {
    cudaEvent_t event = nullptr;
    check(cudaEventCreateWithFlags(&event, timed ? cudaEventDefault : cudaEventDisableTiming),
          "cudaEventCreateWithFlags");
    event_ = event;
}

DeviceEvent::~DeviceEvent() {
    if (event_ != nullptr) {
        cudaEventDestroy(event_of(*this));
    }
}

void DeviceEvent::record(DeviceQueue const& queue) {
    check(cudaEventRecord(event_of(*this), stream_of(queue.native())), "cudaEventRecord");
}

bool DeviceEvent::reached() const {
    cudaError_t const state = cudaEventQuery(event_of(*this));
    if (state == cudaErrorNotReady) {
        return false;
    }
    check(state, "cudaEventQuery");
    return true;
}

Nanoseconds TimedEvent::since(TimedEvent const& earlier) const {
    auto const elapsed = since_if_reached(earlier);
    check(elapsed ? cudaSuccess : cudaErrorNotReady, "cudaEventElapsedTime");
    return elapsed.value_or(0);
}

std::optional<Nanoseconds> TimedEvent::since_if_reached(TimedEvent const& earlier) const {
    float milliseconds = 0;
    cudaError_t const state = cudaEventElapsedTime(&milliseconds, event_of(earlier), event_of(*this));
    if (state == cudaErrorNotReady) {
        return std::nullopt;
    }
    check(state, "cudaEventElapsedTime");
    return static_cast<Nanoseconds>(static_cast<double>(milliseconds) * 1e6);
}

DeviceQueue::DeviceQueue() {
    cudaStream_t stream = nullptr;
    check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "cudaStreamCreateWithFlags");
    stream_ = stream;
}

DeviceQueue::~DeviceQueue() {
    cudaStreamDestroy(stream_of(stream_));
}

void DeviceQueue::copy(std::byte* to, std::byte const* from, Bytes bytes) const {
    if (bytes > 0) {
        check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, stream_of(stream_)), "cudaMemcpyAsync");
    }
}

void DeviceQueue::wait_for(DeviceEvent const& event) const {
    check(cudaStreamWaitEvent(stream_of(stream_), event_of(event), 0), "cudaStreamWaitEvent");
}

void DeviceQueue::drain() const {
    check(cudaStreamSynchronize(stream_of(stream_)), "cudaStreamSynchronize");
}

DeviceGate::DeviceGate() : memory_(allocate_on_device(sizeof(GateState), MemoryKind::pinned)) {
    new (memory_.data()) GateState;
}

void DeviceGate::close(DeviceQueue const& queue) {
    queue_gate(reinterpret_cast<GateState*>(memory_.data()), ++ticket_, stream_of(queue.native()));
}

void DeviceGate::open() {
    state().opened = ticket_;
}

bool DeviceGate::ran_out() const {
    return state().ran_out != 0;
}

GateState volatile& DeviceGate::state() const {
    return *reinterpret_cast<GateState volatile*>(memory_.data());
}

}  // namespace dlmb
