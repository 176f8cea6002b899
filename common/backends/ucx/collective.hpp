// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// A step of a plan as an algorithm sees it, and where its buffers lie.
#pragma once

#include "common/backend_kit/algorithms/shape.hpp"
#include "common/backend_kit/backend.hpp"

#include <optional>

namespace dlmb::ucx {

struct Collective {
    algorithms::Shape shape;
    Reduction reduction = Reduction::sum;
    GroupId group = 0;
    std::byte* input = nullptr;  // of Space::input, and so on
    std::byte* output = nullptr;
};

/// Nothing for steps that are no collective, and for an exchange whose blocks are not equal and packed.
[[nodiscard]] std::optional<Collective> collective_of(Plan const& plan, Operation const& operation,
                                                      Buffers const& buffers);

}  // namespace dlmb::ucx
