// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "tests/fakes/nvml/nvml.hpp"

#include <array>
#include <cstdio>

namespace {

constexpr unsigned silent_bus = 0xEE;

struct Gpu {
    unsigned bus = 0;
};

// Filled once: ranks that are threads ask for their devices at the same time.
Gpu* gpu_at(unsigned bus) {
    static std::array<Gpu, 256> gpus = [] {
        std::array<Gpu, 256> all{};
        for (std::size_t i = 0; i < all.size(); ++i) {
            all[i].bus = static_cast<unsigned>(i);
        }
        return all;
    }();
    return &gpus.at(bus);
}

}  // namespace

namespace dlmb::fake_nvml {

int reasons_of(void* device, unsigned long long* reasons) {
    unsigned const bus = static_cast<Gpu const*>(device)->bus;
    *reasons = bus;
    return bus == silent_bus ? not_supported : success;
}

}  // namespace dlmb::fake_nvml

// NOLINTBEGIN(readability-identifier-naming): the library's names
extern "C" {

int nvmlInit_v2() {
    return dlmb::fake_nvml::success;
}

int nvmlShutdown() {
    return dlmb::fake_nvml::success;
}

int nvmlDeviceGetHandleByPciBusId_v2(char const* address, void** device) {
    unsigned domain = 0;
    unsigned bus = 0;
    unsigned number = 1;
    if (std::sscanf(address, "%x:%2x:%2x", &domain, &bus, &number) != 3 || number != 0) {
        return dlmb::fake_nvml::not_found;
    }
    *device = gpu_at(bus);
    return dlmb::fake_nvml::success;
}
}

// NOLINTEND(readability-identifier-naming)
