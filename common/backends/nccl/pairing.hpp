// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Plans pair messages between two ranks by channel, NCCL by nothing but their order. So each rank learns in which order
// its peers send to it, and takes the messages of one group in that order; across groups the order cannot be changed.
#pragma once

#include "common/backends/nccl/calls.hpp"
#include "common/bootstrap/bootstrap.hpp"

#include <map>
#include <string>
#include <vector>

namespace dlmb::nccl {

/// Channels by the world rank of the other side, in the order in which messages are issued.
using ChannelOrder = std::map<Rank, std::vector<int>>;

[[nodiscard]] ChannelOrder channels_sent(std::vector<Item> const& items);

/// Collective. What the others send to this rank.
[[nodiscard]] ChannelOrder channels_arriving(Bootstrap& bootstrap, ChannelOrder const& sent);

/// Orders the receives of each group as they arrive. Returns why that is impossible; empty: done.
[[nodiscard]] std::string take_as_sent(std::vector<Item>& items, ChannelOrder const& arriving);

}  // namespace dlmb::nccl
