// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "common/tools/predict/network/link_loads.hpp"

#include <vector>

namespace dlmb::predict {

inline std::unique_ptr<Interconnect> made(std::string_view text) {
    return interconnect_of(parse_topology(text));
}

/// Bytes between two nodes.
struct Transfer {
    int from = 0;
    int to = 0;
    double bytes = 0;
};

/// What transfers between nodes put on links.
inline LinkLoads loads_of(Interconnect const& interconnect, std::vector<Transfer> const& transfers) {
    LinkLoads loads(interconnect);
    for (Transfer const& transfer : transfers) {
        loads.add(transfer.from, transfer.to, transfer.bytes);
    }
    return loads;
}

/// Links between two nodes, without those into the network and out of it.
inline int hops_between(Interconnect const& interconnect, int from, int to) {
    std::vector<LinkId> route;
    interconnect.route(from, to, route);
    return static_cast<int>(route.size()) - 2;
}

}  // namespace dlmb::predict
