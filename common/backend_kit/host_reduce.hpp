// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// The reduction of two operands on memory the host can address, for backends that have none of their own.
#pragma once

#include "common/formats/plan/plan.hpp"

#include <cstddef>

namespace dlmb {

/// to[i] = left[i] (reduction) right[i] over whole elements. Narrow floats are computed in float and rounded at every
/// call, integers wrap. `to` may be one of the operands; otherwise the three do not overlap. Any alignment.
void host_reduce(std::byte* to, std::byte const* left, std::byte const* right, Bytes bytes, Element element,
                 Reduction reduction);

/// into = into (reduction) operand.
inline void host_reduce(std::byte* into, std::byte const* operand, Bytes bytes, Element element, Reduction reduction) {
    host_reduce(into, into, operand, bytes, element, reduction);
}

}  // namespace dlmb
