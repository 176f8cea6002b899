// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// The contention model `bound`: no events. Traffic takes at least as long as the busiest node needs to send or receive,
// the busiest link to carry, and the longest chain of latencies to pass. Never above `links`.
#pragma once

#include "common/predict/network/link_network.hpp"

#include <string_view>

namespace dlmb::predict {

struct Bound {
    double node_ps = 0;     // of the busiest node
    double link_ps = 0;     // of the busiest link, those of nodes included
    double latency_ps = 0;  // of the longest chain
    [[nodiscard]] double time_ps() const;
    /// "injection", "links" or "latency".
    [[nodiscard]] std::string_view limit() const;
};

/// Throws nothing; `latency_ps` is the caller's, who knows what waits for what.
[[nodiscard]] Bound bound_of(LinkLoads const& loads, double latency_ps, double bytes_per_ps);

}  // namespace dlmb::predict
