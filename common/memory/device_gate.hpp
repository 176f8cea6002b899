// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Holds a device's work back until the host lets it go, so that ranks start together and the cost of launching stays
// out of what is measured. Only for work that needs nothing more from the host once it is queued.
#pragma once

#include "common/base/units.hpp"
#include "common/memory/device_queue.hpp"
#include "common/memory/memory_space.hpp"

namespace dlmb {

/// In memory that host and device see; tickets of closed gates count up from 1.
struct GateState {
    unsigned opened = 0;   // the last ticket that the host let go
    unsigned ran_out = 0;  // 1: one opened by itself
};

class DeviceGate {
public:
    /// A gate that stays closed as long as this opens by itself: whoever forgot it hangs nothing.
    static constexpr Nanoseconds patience = 5'000'000'000;

    DeviceGate();  // throws Error where there is no device
    /// Later work waits.
    void close(DeviceQueue const& queue);
    void open();
    [[nodiscard]] bool ran_out() const;

private:
    [[nodiscard]] GateState volatile& state() const;

    Allocation memory_;
    unsigned ticket_ = 0;
};

}  // namespace dlmb
