// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Streams and events of one device as owners, and the question whether there is a device at all.
#pragma once

#include "common/base/expected.hpp"

#include <cuda_runtime_api.h>

namespace dlmb::nccl {

/// The device for this local rank, made current; or why there is none.
[[nodiscard]] Expected<int, Unsupported> choose_device(int local_rank);

class Stream {
public:
    Stream();
    Stream(Stream const&) = delete;
    Stream& operator=(Stream const&) = delete;
    ~Stream();
    [[nodiscard]] cudaStream_t get() const { return stream_; }

private:
    cudaStream_t stream_ = nullptr;
};

/// Timing is disabled: phase marks on the device come with the events of a later version.
class Event {
public:
    Event();
    Event(Event const&) = delete;
    Event& operator=(Event const&) = delete;
    Event(Event&& other) noexcept : event_(other.event_) { other.event_ = nullptr; }
    Event& operator=(Event&&) = delete;
    ~Event();
    [[nodiscard]] cudaEvent_t get() const { return event_; }

private:
    cudaEvent_t event_ = nullptr;
};

}  // namespace dlmb::nccl
