// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// A build without CUDA: there is no device, and nobody comes as far as queueing work for one.
#include "common/base/error.hpp"
#include "common/memory/device_gate.hpp"
#include "common/memory/device_queue.hpp"
#include "common/memory/devices.hpp"
#include "common/memory/host_space.hpp"

#include <fmt/core.h>

namespace dlmb {
namespace {

constexpr std::string_view absent = "not in this build; configure with -DDLMB_WITH_CUDA=ON";

[[noreturn]] void no_device() {
    throw Error(fmt::format("CUDA: {}", absent));
}

}  // namespace

std::unique_ptr<MemorySpace> make_memory_space(MemoryKind kind, std::string& why_not) {
    if (kind == MemoryKind::host) {
        return std::make_unique<HostSpace>();
    }
    why_not = fmt::format("{} memory: {}", name_of(kind), absent);
    return nullptr;
}

Allocation allocate_on_device(Bytes /*bytes*/, MemoryKind /*kind*/) {
    no_device();
}

Devices find_devices() {
    return {{}, fmt::format("CUDA: {}", absent), "", ""};
}
int numa_node_of_device(int /*index*/) {
    no_device();
}
void use_device(int /*index*/) {
    no_device();
}
Bytes free_device_memory() {
    no_device();
}

DeviceEvent::DeviceEvent(bool /*timed*/) {
    no_device();
}
DeviceEvent::~DeviceEvent() = default;
void DeviceEvent::record(DeviceQueue const& /*queue*/) {
    no_device();
}
bool DeviceEvent::reached() const {
    no_device();
}
Nanoseconds TimedEvent::since(TimedEvent const& /*earlier*/) const {
    no_device();
}
std::optional<Nanoseconds> TimedEvent::since_if_reached(TimedEvent const& /*earlier*/) const {
    no_device();
}

DeviceGate::DeviceGate() {
    no_device();
}
void DeviceGate::close(DeviceQueue const& /*queue*/) {
    no_device();
}
void DeviceGate::open() {
    no_device();
}
bool DeviceGate::ran_out() const {
    no_device();
}

DeviceQueue::DeviceQueue() {
    no_device();
}
DeviceQueue::~DeviceQueue() = default;
void DeviceQueue::copy(std::byte* /*to*/, std::byte const* /*from*/, Bytes /*bytes*/) const {
    no_device();
}
void DeviceQueue::wait_for(DeviceEvent const& /*event*/) const {
    no_device();
}
void DeviceQueue::drain() const {
    no_device();
}

}  // namespace dlmb
