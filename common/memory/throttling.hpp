// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Whether a GPU is slower than it could be because its clocks are held down. NVML knows; it comes with the driver and
// is loaded at run time, so that programs start without it.
#pragma once

#include <memory>
#include <optional>
#include <string>

namespace dlmb {

class Throttling {
public:
    /// Watches the GPU at "0000:1b:00.0". `library`: NVML's; tests name a test double.
    explicit Throttling(std::string const& pci_bus_id, char const* library = "libnvidia-ml.so.1");
    Throttling(Throttling const&) = delete;
    Throttling& operator=(Throttling const&) = delete;
    ~Throttling();

    /// At this moment, for power or temperature. Clocks that are low because the GPU is idle or a user has set them are
    /// not held down. nullopt: not known, as there is no NVML or it does not say (MIG). Asks the driver, which may take
    /// longer than an iteration: never where something is timed.
    [[nodiscard]] std::optional<bool> now() const;

private:
    struct Nvml;
    std::unique_ptr<Nvml const> nvml_;  // nullptr: not known
    void* device_ = nullptr;            // nvmlDevice_t
};

}  // namespace dlmb
