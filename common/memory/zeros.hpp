// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Zeros in memory of any kind, through copies to and from the host.
#pragma once

#include "common/memory/memory_space.hpp"

#include <optional>

namespace dlmb {

void fill_zeros(MemorySpace& memory, std::byte* data, Bytes bytes);
/// Offset of the first byte that is not zero.
[[nodiscard]] std::optional<Bytes> first_nonzero(MemorySpace& memory, std::byte const* data, Bytes bytes);

}  // namespace dlmb
