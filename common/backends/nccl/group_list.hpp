// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Lists of groups: as ranks tell each other, and dealt into batches that one ncclCommSplit makes at once.
#pragma once

#include "common/bootstrap/bootstrap.hpp"
#include "common/plan/plan.hpp"

#include <span>
#include <vector>

namespace dlmb::nccl {

/// `rank`'s place among the members; their number when it is none of them.
[[nodiscard]] std::size_t place_of(Rank rank, Group const& group);

[[nodiscard]] Blob pack_groups(std::span<Group const> groups);
/// Of all ranks together, sorted, each once.
[[nodiscard]] std::vector<Group> unpack_groups(std::span<Blob const> blobs);

/// Groups of one batch share no rank. The same on all ranks for the same list.
[[nodiscard]] std::vector<std::vector<Group>> disjoint_batches(std::vector<Group> const& groups);

}  // namespace dlmb::nccl
