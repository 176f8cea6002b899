// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Dragonfly (Kim et al. 2008): groups of routers that are all linked with each other; each router also has links to
// other groups. Port k of a group (k / global links of a router is its router) goes to the group 1 + k mod (groups - 1)
// further on. Ways: within the group to the router of a link to the target's group, over it, and on within that group.
// Of several links between two groups the destination chooses one; adaptive: all evenly. Every link has the bandwidth
// of a node.
#pragma once

#include "common/predict/network/interconnect.hpp"

namespace dlmb::predict {

class Dragonfly : public Interconnect {
public:
    explicit Dragonfly(Topology const& topology);

protected:
    [[nodiscard]] double inner_capacity(LinkId link) const override;
    [[nodiscard]] std::string inner_name(LinkId link) const override;
    void add_inner(int from, int to, std::vector<WayLink>& way) const override;
    [[nodiscard]] int representative_of(int node) const override { return node % (router_nodes_ * routers_); }
    [[nodiscard]] LinkId inner_class(LinkId link) const override { return link % per_group(); }

private:
    /// Numbers of the links of a group: routers^2 inside, then its ports.
    [[nodiscard]] LinkId per_group() const { return static_cast<LinkId>(routers_ * routers_ + routers_ * global_); }
    [[nodiscard]] LinkId inside(int group, int from_router, int to_router) const {
        return static_cast<LinkId>(group) * per_group() + static_cast<LinkId>(from_router * routers_ + to_router);
    }

    int router_nodes_;
    int routers_;
    int groups_;
    int global_;    // links of a router to other groups
    int parallel_;  // links between two groups
    bool adaptive_;
};

}  // namespace dlmb::predict
