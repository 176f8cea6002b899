// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// The messages of sendrecv, bandwidth, bibandwidth and message_rate.
#pragma once

#include "common/formats/plan/builder.hpp"
#include "patterns/collective/collective.hpp"

namespace dlmb::collective {

/// Adds those of rank `me` among `ranks`. `all`: the group of all ranks.
void add_messages(PlanBuilder& builder, GroupId all, Params const& params, int ranks, Rank me);

}  // namespace dlmb::collective
