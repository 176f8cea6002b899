// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// From a plan's steps to what two streams do, in the order in which the host enqueues it. Cold: runs in compile().
//
// Everything that communicates runs in plan order on one stream: NCCL operations of one rank that run in another order
// than on its peers would wait in a circle. Messages with no other call between them that do not wait for each other go
// into one group, where they proceed together. Computations run on a second stream; the two wait for each other only
// where the plan says so.
//
// Plans pair messages between two ranks by channel, NCCL by nothing but their order. So each rank learns in which order
// its peers send to it, and takes the messages of one group in that order; across groups the order cannot be changed.
//
// A rank waits for signals as late as it can (one_sided.hpp).
#pragma once

#include "common/backend_kit/backend.hpp"
#include "common/backends/nccl/calls.hpp"
#include "common/backends/nccl/one_sided.hpp"

#include <functional>
#include <map>
#include <set>
#include <string>

namespace dlmb::nccl {

/// Messages use the world's communicator: plans pair them by ranks of the world, whatever their group.
struct CommunicatorLookup {
    ncclComm_t world = nullptr;
    std::function<ncclComm_t(Group const&)> of_group;
};

/// The calls of a plan depend on these besides the plan.
struct CallSettings {
    bool all_to_all = false;             // exchanges by ncclAlltoAll
    std::string why_no_fp8;              // empty: fp8 can be reduced
    OneSidedCalls* one_sided = nullptr;  // of a plan with signals
};

/// E4M3; nothing where the library has no such type (before 2.24). fp8_native.cpp or fp8_absent.cpp defines it; CMake
/// picks one.
[[nodiscard]] std::optional<ncclDataType_t> fp8_type();

/// Unsupported names the first step that NCCL cannot do.
[[nodiscard]] Expected<std::vector<Item>, Unsupported> translate(Plan const& plan, Buffers const& buffers,
                                                                 CommunicatorLookup const& communicators,
                                                                 CallSettings const& settings);

/// Channels by the world rank of the other side, in the order in which messages, and blocks between all ranks, are
/// issued.
using ChannelOrder = std::map<Rank, std::vector<int>>;

[[nodiscard]] ChannelOrder channels_sent(std::vector<Item> const& items);

/// Collective. What the others send to this rank.
[[nodiscard]] ChannelOrder channels_arriving(Bootstrap& bootstrap, ChannelOrder const& sent);

/// The other ranks that messages go to or come from.
[[nodiscard]] std::set<Rank> message_peers(Rank me, ChannelOrder const& sent, ChannelOrder const& arriving);

/// Orders the receives of each group as they arrive. Returns why that is impossible; empty: done.
[[nodiscard]] std::string take_as_sent(std::vector<Item>& items, ChannelOrder const& arriving);

}  // namespace dlmb::nccl
