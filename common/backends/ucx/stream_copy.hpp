// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// memcpy for a destination that is not read again soon: past the caches, so that its old content is not read from
// memory and what caches hold stays there. CMake picks the variant for the processor.
#pragma once

#include "common/base/units.hpp"

#include <cstddef>

namespace dlmb::ucx {

/// Other processors that learn of it later see the copy.
void stream_copy(std::byte* to, std::byte const* from, Bytes bytes);

}  // namespace dlmb::ucx
