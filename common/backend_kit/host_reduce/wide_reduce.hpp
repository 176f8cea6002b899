// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// host_reduce by the widest vectors that the processor at hand has; the same bits by all of them.
#pragma once

#include "common/plan/plan.hpp"

#include <cstddef>

namespace dlmb {

void wide_reduce(std::byte* to, std::byte const* left, std::byte const* right, Bytes bytes, Element element,
                 Reduction reduction);

}  // namespace dlmb
