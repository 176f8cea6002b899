// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Work that a device does in order while the host goes on, and marks in it: CUDA's streams and events, for those that
// may not name CUDA. The folder cuda/ or device_absent.cpp defines them; CMake picks one.
#pragma once

#include "common/base/units.hpp"

#include <cstddef>
#include <optional>

namespace dlmb {

class DeviceQueue;

/// A point in a queue. Not reached until the device has done all that was queued before it. It has no time, which a
/// device would spend a microsecond or more on.
class DeviceEvent {
public:
    DeviceEvent() : DeviceEvent(false) {}  // throws Error where there is no device, as all below do when it fails
    DeviceEvent(DeviceEvent const&) = delete;
    DeviceEvent& operator=(DeviceEvent const&) = delete;
    DeviceEvent(DeviceEvent&& other) noexcept : event_(other.event_) { other.event_ = nullptr; }
    DeviceEvent& operator=(DeviceEvent&&) = delete;
    ~DeviceEvent();  // NOLINT(performance-trivially-destructible): only without CUDA

    void record(DeviceQueue const& queue);
    /// True as well before it was ever recorded.
    [[nodiscard]] bool reached() const;
    [[nodiscard]] void* native() const { return event_; }  // cudaEvent_t

protected:
    explicit DeviceEvent(bool timed);

private:
    void* event_ = nullptr;
};

/// An event that keeps the device's time at which it was reached.
class TimedEvent : public DeviceEvent {
public:
    TimedEvent() : DeviceEvent(true) {}
    /// Device time between two events that were reached; the clock behind it steps by about 500 ns.
    [[nodiscard]] Nanoseconds since(TimedEvent const& earlier) const;
    /// nullopt: one of them is not reached. A replayed graph may take that back between two questions.
    [[nodiscard]] std::optional<Nanoseconds> since_if_reached(TimedEvent const& earlier) const;
};

/// On the device that this thread uses (devices.hpp).
class DeviceQueue {
public:
    DeviceQueue();
    DeviceQueue(DeviceQueue const&) = delete;
    DeviceQueue& operator=(DeviceQueue const&) = delete;
    ~DeviceQueue();  // NOLINT(performance-trivially-destructible): only without CUDA

    /// Between memory of any kinds. Host memory that is not pinned may make the host wait.
    void copy(std::byte* to, std::byte const* from, Bytes bytes) const;
    /// Later work starts when `event`, as last recorded, is reached.
    void wait_for(DeviceEvent const& event) const;
    /// The host waits until nothing is left to do.
    void drain() const;
    [[nodiscard]] void* native() const { return stream_; }  // cudaStream_t

private:
    void* stream_ = nullptr;
};

}  // namespace dlmb
