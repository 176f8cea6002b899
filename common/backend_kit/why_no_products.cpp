// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/backend_kit/device_compute.hpp"
#include "common/base/error.hpp"

namespace dlmb {

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
