// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// A Compute step: on the host in pieces, so that whoever runs it can serve the transport in between, and on the device.
#pragma once

#include "common/base/clock.hpp"
#include "common/memory/device_queue.hpp"
#include "common/plan/plan.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace dlmb {

class HostCompute {
public:
    explicit HostCompute(Compute const& step);

    void start() { end_ns_ = now_ns() + busy_ns_; }
    /// Does a piece of work (a matrix product of `tile_edge`^3 multiplications, whatever the step's shape, or nothing),
    /// or all of a step that is uninterrupted; true: the time is over.
    [[nodiscard]] bool test();

private:
    static constexpr std::size_t tile_edge = 48;  // a few microseconds

    void multiply();

    Nanoseconds busy_ns_;
    bool uninterrupted_;
    Nanoseconds end_ns_ = 0;
    std::vector<float> tiles_;  // two factors and the sum of products; empty: only the clock is watched
};

class MatrixProduct;

class DeviceCompute {
public:
    /// Without a product one thread watches the clock, so that the step takes time and nothing else. With one: bf16
    /// matrix products on the whole device, as many as take that time when nothing else runs, so that communication is
    /// slowed by what slows it in a model. The first of each shape measures the device for some milliseconds. Throws
    /// Error, for products also where there is no cuBLAS or no memory for the matrices.
    explicit DeviceCompute(Compute const& step);
    void start(DeviceQueue const& queue) const;

private:
    // Without CUDA nothing reads them.
    [[maybe_unused]] long long cycles_ = 0;  // of a spinning thread
    std::shared_ptr<MatrixProduct> product_;
    [[maybe_unused]] std::uint64_t products_ = 0;
};

/// How many products of `product_ns` come nearest to `wanted_ns`; at least one.
[[nodiscard]] inline std::uint64_t products_in(Nanoseconds wanted_ns, double product_ns) {
    return static_cast<std::uint64_t>(std::max(1LL, std::llround(static_cast<double>(wanted_ns) / product_ns)));
}

/// Why the device cannot do the products of a plan's Compute steps; empty: it can. For compile(), where that is a
/// reason to decline and not yet a fault.
[[nodiscard]] std::string why_no_products(Plan const& plan);

}  // namespace dlmb
