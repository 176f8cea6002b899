// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// What the simulator asks of a network whose messages share links (contention model `links`). The bytes of a message
// are a flow: it has a rate as long as no flow begins or ends. Without a network (contention model `none`) a message
// takes (s - 1) G of its level, whatever else is under way.
//
//     simulator                               network
//     a send has used its o:  start()  -->    the flow gets its share, others get less
//     what comes next:        next_event() --> the earliest end of a flow, or when rates are to be computed, if none
//     begins
//                                              before
//     it is that time:        end_next()  --> the flow that is over; its last byte is at the receiver L later
//
// Times are picoseconds since the start of the simulation and never go back from call to call.
#pragma once

#include "common/base/units.hpp"

#include <cstdint>
#include <limits>
#include <optional>

namespace dlmb::predict {

using Picoseconds = std::int64_t;
inline constexpr Picoseconds never = std::numeric_limits<Picoseconds>::max();

/// A message, by the number that the simulator gave it; numbers of flows that are over are used again.
using FlowId = std::uint32_t;

class Network {
public:
    Network() = default;
    Network(Network const&) = delete;
    Network& operator=(Network const&) = delete;
    virtual ~Network() = default;

    /// From now on `bytes` (at least 1) flow from one rank to another, which sits on another node. The network knows
    /// where ranks sit; its links include those from a node into the network and out of it.
    virtual void start(FlowId flow, Rank from, Rank to, Bytes bytes, Picoseconds now) = 0;
    /// When the network has to be asked for ends, which is when the first flow ends as things stand, at least 1 ps
    /// after a start that changed it, or earlier; `never`: there is no flow.
    [[nodiscard]] virtual Picoseconds next_event() const = 0;
    /// Takes out the flow that ends now; of several the one that started first. Nothing: no other one ends now.
    virtual std::optional<FlowId> end_next(Picoseconds now) = 0;
    /// What the way through the network adds to L of the level, for hops beyond those that L holds; 0: nothing.
    [[nodiscard]] virtual Picoseconds extra_latency(Rank from, Rank to) const = 0;
};

}  // namespace dlmb::predict
