// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// How communicators come to be.
#pragma once

#include "tests/fakes/gpu/communicator.hpp"

#include <string>

namespace dlmb::fake_gpu {

/// A communicator that becomes usable when all ranks have come and no two have the same device.
[[nodiscard]] std::shared_ptr<Communicator> join(std::string const& name, int ranks, int rank, bool blocking);

/// Ranks of equal `color` (none with NCCL_SPLIT_NOCOLOR) by `key`, in a new communicator that is stored in
/// *newcomm once it is usable.
void begin_split(std::shared_ptr<Communicator> const& parent, int color, int key, ncclComm_t* newcomm, bool blocking);

}  // namespace dlmb::fake_gpu
