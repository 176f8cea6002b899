// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// From a group's operations to work in streams.
#pragma once

#include "tests/fakes/gpu/group.hpp"

namespace dlmb::fake_gpu {

/// On a blocking communicator the work is in the stream once its state is asked for, on others some questions later.
void begin(Launch const& launch);

}  // namespace dlmb::fake_gpu
