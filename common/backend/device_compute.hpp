// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// A Compute step on the device.
#pragma once

#include "common/memory/device_queue.hpp"
#include "common/plan/plan.hpp"

namespace dlmb {

class DeviceCompute {
public:
    /// busy: one thread watches the clock, so that the step takes time and nothing else. gemm: bf16 matrix products on
    /// the whole device, as many as take that time when nothing else runs, so that communication is slowed by what
    /// slows it in a model. The first of each kind measures the device for some milliseconds. Throws Error, for gemm
    /// also where there is no cuBLAS.
    explicit DeviceCompute(Compute const& step);
    void start(DeviceQueue const& queue) const;

private:
    Compute step_;
    long long cycles_ = 0;   // of a spinning thread
    unsigned products_ = 0;  // matrix products
};

}  // namespace dlmb
