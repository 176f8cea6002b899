// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Turns the actions of one rank into steps. Compute steps are in one line. What else waits for what, by mode:
//
//   batched         the messages of a transfer are one batch; the next computation waits for all of them
//   handshake_data  the same twice: shapes, then tensors
//   meta_data       schedules with one stage per rank: each part of each message waits for the one before it, towards
//                   the next stage receives first, towards the previous stage sends first; other schedules: the parts
//                   of one message. The next computation waits for all
//   separate        each message on its own, after the computation before it; a computation waits for what it works on
//                   only, and no computation waits for a send
//
// Without compute steps their place in the order is kept: a step waits for the messages that the computations before
// it would have waited for.
#pragma once

#include "patterns/pipeline_p2p/action.hpp"
#include "patterns/pipeline_p2p/params.hpp"

#include <span>

namespace dlmb::pipeline_p2p {

/// The plan of `me`, whose place in its chain has these actions.
[[nodiscard]] Plan assemble(Params const& params, WorldShape const& world, Rank me, std::span<Action const> actions);

}  // namespace dlmb::pipeline_p2p
