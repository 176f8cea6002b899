// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Names and numbers are those of the NVML API reference (docs.nvidia.com/deploy/nvml-api), "Device Queries" and
// "NvmlClocksEventReasons". They are NVML's binary interface, declared here as its header comes with few toolkits.
#include "common/memory/throttling.hpp"

#include <dlfcn.h>

namespace dlmb {
namespace {

using NvmlStatus = int;  // nvmlReturn_t
constexpr NvmlStatus success = 0;

using Reasons = unsigned long long;
constexpr Reasons software_power_cap = 0x04;
constexpr Reasons hardware_slowdown = 0x08;  // too hot, too much power, or told to by the power supply
constexpr Reasons software_thermal = 0x20;
constexpr Reasons hardware_thermal = 0x40;
constexpr Reasons hardware_power_brake = 0x80;
constexpr Reasons held_down =
    software_power_cap | hardware_slowdown | software_thermal | hardware_thermal | hardware_power_brake;

}  // namespace

struct Throttling::Nvml {
    explicit Nvml(char const* name) : library(dlopen(name, RTLD_NOW | RTLD_LOCAL)) {
        if (library == nullptr) {
            return;
        }
        find(init, "nvmlInit_v2");
        find(shutdown, "nvmlShutdown");
        find(device_at, "nvmlDeviceGetHandleByPciBusId_v2");
        find(reasons_of, "nvmlDeviceGetCurrentClocksEventReasons");
        if (reasons_of == nullptr) {
            find(reasons_of, "nvmlDeviceGetCurrentClocksThrottleReasons");  // its name before driver 535
        }
        bool const complete = init != nullptr && shutdown != nullptr && device_at != nullptr && reasons_of != nullptr;
        usable = complete && init() == success;
    }
    Nvml(Nvml const&) = delete;
    Nvml& operator=(Nvml const&) = delete;
    ~Nvml() {
        if (usable) {
            shutdown();
        }
        if (library != nullptr) {
            dlclose(library);
        }
    }

    template <class Function>
    void find(Function& function, char const* name) {
        function = reinterpret_cast<Function>(dlsym(library, name));
    }

    void* library;
    NvmlStatus (*init)() = nullptr;
    NvmlStatus (*shutdown)() = nullptr;
    NvmlStatus (*device_at)(char const*, void**) = nullptr;
    NvmlStatus (*reasons_of)(void*, Reasons*) = nullptr;
    bool usable = false;
};

Throttling::Throttling(std::string const& pci_bus_id, char const* library)
    : nvml_(std::make_unique<Nvml const>(library)) {
    if (!nvml_->usable || nvml_->device_at(pci_bus_id.c_str(), &device_) != success) {
        nvml_.reset();
    }
}

Throttling::~Throttling() = default;

std::optional<bool> Throttling::now() const {
    Reasons reasons = 0;
    if (nvml_ == nullptr || nvml_->reasons_of(device_, &reasons) != success) {
        return std::nullopt;
    }
    return (reasons & held_down) != 0;
}

}  // namespace dlmb
