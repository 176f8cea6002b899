// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// The steps of each operation.
#pragma once

#include "patterns/collective/params.hpp"

#include <span>
#include <vector>

namespace dlmb::collective {

/// Every operation but alltoallv.
[[nodiscard]] Plan plan_of(Params const& params, WorldShape const& world, Rank me);

/// alltoall and alltoallv, with the bytes to and from every rank.
[[nodiscard]] Plan exchange_plan(Params const& params, WorldShape const& world, Rank me, std::span<Bytes const> send,
                                 std::span<Bytes const> recv);

[[nodiscard]] std::vector<OperationUse> operations_of(Params const& params);

}  // namespace dlmb::collective
