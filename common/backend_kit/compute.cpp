// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/backend_kit/compute.hpp"

#include "common/base/error.hpp"

namespace dlmb {

HostCompute::HostCompute(Compute const& step)
    : busy_ns_(step.busy_ns), uninterrupted_(step.uninterrupted),
      tiles_(step.product ? 3 * tile_edge * tile_edge : 0, 0.5F) {}

bool HostCompute::test() {
    bool over = false;
    do {
        if (!tiles_.empty()) {
            multiply();
        }
        over = now_ns() >= end_ns_;
    } while (uninterrupted_ && !over);
    return over;
}

void HostCompute::multiply() {
    constexpr std::size_t tile = tile_edge * tile_edge;
    float const* const a = tiles_.data();
    float const* const b = a + tile;
    float* const c = tiles_.data() + 2 * tile;
    for (std::size_t row = 0; row < tile_edge; ++row) {
        for (std::size_t k = 0; k < tile_edge; ++k) {
            for (std::size_t column = 0; column < tile_edge; ++column) {
                c[row * tile_edge + column] += a[row * tile_edge + k] * b[k * tile_edge + column];
            }
        }
    }
}

std::string why_no_products(Plan const& plan) {
    for (Step const& step : plan.steps) {
        auto const* const compute = std::get_if<Compute>(&step.operation);
        if (compute == nullptr || !compute->product) {
            continue;
        }
        try {
            DeviceCompute const probe(*compute);
        } catch (Error const& error) {
            return error.what();
        }
    }
    return "";
}

}  // namespace dlmb
