// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// The reduction of two operands on memory the host can address, for backends that have none of their own.
#pragma once

#include "common/plan/plan.hpp"

#include <cstddef>

namespace dlmb {

/// into[i] = into[i] (reduction) operand[i] over whole elements. Narrow floats are computed in float and rounded at
/// every call, integers wrap. The two either do not overlap or are the same memory; any alignment.
void host_reduce(std::byte* into, std::byte const* operand, Bytes bytes, Element element, Reduction reduction);

}  // namespace dlmb
