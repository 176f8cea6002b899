// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// The result of a reduction, compared on the device with what ReductionPayload says.
#pragma once

#include "common/backend_kit/reduction_payload.hpp"
#include "common/memory/device_queue.hpp"
#include "common/memory/memory_space.hpp"

#include <optional>

namespace dlmb {

class DeviceReductionCheck {
public:
    DeviceReductionCheck();  // throws Error where there is no device

    /// The first of `elements` elements at `data`, device memory of any alignment, that is not payload.result() from
    /// element `first` on.
    [[nodiscard]] std::optional<Bytes> first_wrong(std::byte const* data, Bytes elements,
                                                   ReductionPayload const& payload, PayloadKey key,
                                                   std::uint64_t first);

private:
    DeviceQueue queue_;
    Allocation first_wrong_;
};

}  // namespace dlmb
