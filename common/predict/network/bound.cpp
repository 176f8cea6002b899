// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/predict/network/bound.hpp"

#include <algorithm>

namespace dlmb::predict {

double Bound::time_ps() const {
    return std::max({node_ps, link_ps, latency_ps});
}

std::string_view Bound::limit() const {
    if (latency_ps >= std::max(node_ps, link_ps)) {
        return "latency";
    }
    return link_ps > node_ps * (1 + 1e-9) ? "links" : "injection";
}

Bound bound_of(LinkLoads const& loads, double latency_ps, double bytes_per_ps) {
    return {loads.busiest_node() / bytes_per_ps, loads.largest() / bytes_per_ps, latency_ps};
}

}  // namespace dlmb::predict
