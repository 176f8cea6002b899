// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// The steps of one iteration. Labels: phase[.recompute][.attention|.mlp][.gather|.regather|.scatter][.layer].
#pragma once

#include "patterns/tp_allreduce/params.hpp"

namespace dlmb::tp_allreduce {

/// Each step waits for the one before it: in a transformer every collective needs the result of the last.
[[nodiscard]] Plan assemble(Params const& params, WorldShape const& world, Rank me);

}  // namespace dlmb::tp_allreduce
