// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/predict/network/dragonfly.hpp"

#include "common/base/error.hpp"

#include <fmt/format.h>

namespace dlmb::predict {

Dragonfly::Dragonfly(Topology const& topology)
    : Interconnect(topology.nodes(), static_cast<LinkId>(topology.shape[2] * topology.shape[1] *
                                                         (topology.shape[1] + topology.global_links))),
      router_nodes_(topology.shape[0]), routers_(topology.shape[1]), groups_(topology.shape[2]),
      global_(topology.global_links), parallel_(groups_ > 1 ? routers_ * global_ / (groups_ - 1) : 0),
      adaptive_(topology.routing == Routing::adaptive) {
    if (groups_ > 1 && parallel_ == 0) {
        throw UsageError(fmt::format("topology '{}': a group has {} links to others, too few for {} groups",
                                     topology.text(), routers_ * global_, groups_));
    }
}

double Dragonfly::inner_capacity(LinkId link) const {
    int const number = static_cast<int>(link % per_group());
    if (number < routers_ * routers_) {
        return number / routers_ == number % routers_ ? 0 : 1;
    }
    return number - routers_ * routers_ < parallel_ * (groups_ - 1) ? 1 : 0;
}

std::string Dragonfly::inner_name(LinkId link) const {
    int const group = static_cast<int>(link / per_group());
    int const number = static_cast<int>(link % per_group());
    if (number < routers_ * routers_) {
        return fmt::format("group {} router {} to router {}", group, number / routers_, number % routers_);
    }
    int const port = number - routers_ * routers_;
    return fmt::format("group {} to group {}, port {}", group, (group + 1 + port % (groups_ - 1)) % groups_, port);
}

void Dragonfly::add_inner(int from, int to, std::vector<WayLink>& way) const {
    int const group_nodes = router_nodes_ * routers_;
    int const group = from / group_nodes;
    int const target = to / group_nodes;
    int const router = from % group_nodes / router_nodes_;
    int const last = to % group_nodes / router_nodes_;
    if (group == target) {
        if (router != last) {
            way.push_back({inside(group, router, last), 1});
        }
        return;
    }
    int const ahead = (target - group - 1 + groups_) % groups_;  // 0: the next group
    int const chosen = to % group_nodes % parallel_;
    double const share = adaptive_ ? 1.0 / parallel_ : 1;
    for (int link = adaptive_ ? 0 : chosen; link < (adaptive_ ? parallel_ : chosen + 1); ++link) {
        int const port = link * (groups_ - 1) + ahead;
        int const end = link * (groups_ - 1) + groups_ - 2 - ahead;  // the port of the target that leads back
        if (port / global_ != router) {
            way.push_back({inside(group, router, port / global_), share});
        }
        way.push_back(
            {static_cast<LinkId>(group) * per_group() + static_cast<LinkId>(routers_ * routers_ + port), share});
        if (end / global_ != last) {
            way.push_back({inside(target, end / global_, last), share});
        }
    }
}

}  // namespace dlmb::predict
