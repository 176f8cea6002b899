// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Which buffers each communicator of a plan uses, in the order of first use, which is the same on all its ranks where
// the plans are alike.
#pragma once

#include "common/plan/plan.hpp"

#include <map>
#include <vector>

namespace dlmb::nccl {

/// By the members of a group. Messages count as the world's; buffers without a byte are left out.
using BufferUses = std::map<std::vector<Rank>, std::vector<BufferId>>;

[[nodiscard]] BufferUses collective_uses(Plan const& plan);
[[nodiscard]] std::vector<BufferId> message_uses(Plan const& plan);

}  // namespace dlmb::nccl
