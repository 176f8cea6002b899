// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Networks of switches: fat tree, dragonfly and HyperX.
#pragma once

#include "common/tools/predict/network/interconnect.hpp"

namespace dlmb::predict {

/// Fat tree: a switch of level 1 has shape[0] nodes, a group of level 2 has shape[1] such switches, and so on. The
/// links between a group and the level above share what passes evenly, as adaptive routing makes them, which is one
/// link of their joint capacity: taper times what the nodes of the group inject.
class FatTree : public Interconnect {
public:
    explicit FatTree(Topology const& topology);

protected:
    [[nodiscard]] double inner_capacity(LinkId link) const override;
    [[nodiscard]] std::string inner_name(LinkId link) const override;
    void add_inner(int from, int to, std::vector<LinkId>& route) const override;
    [[nodiscard]] int representative_of(int /*node*/) const override { return 0; }
    [[nodiscard]] LinkId inner_class(LinkId link) const override;

private:
    /// The links between the groups of a level and the next one; upwards first, then as many downwards.
    struct Level {
        int group_nodes = 1;
        LinkId first = 0;
        LinkId links = 0;  // in one direction
        double capacity = 1;
    };
    static std::vector<Level> levels_of(Topology const& topology);
    FatTree(Topology const& topology, std::vector<Level> levels);
    [[nodiscard]] std::size_t level_of(LinkId link) const;

    std::vector<Level> levels_;
};

/// Dragonfly (Kim et al. 2008): groups of routers that are all linked with each other; each router also has links to
/// other groups. Port k of a group (k / global links of a router is its router) goes to the group 1 + k mod (groups -
/// 1) further on. Ways: within the group to the router of a link to the target's group, over it, and on within that
/// group. Of several links between two groups the destination chooses one. Every link has the bandwidth of a node.
class Dragonfly : public Interconnect {
public:
    explicit Dragonfly(Topology const& topology);

protected:
    [[nodiscard]] double inner_capacity(LinkId link) const override;
    [[nodiscard]] std::string inner_name(LinkId link) const override;
    void add_inner(int from, int to, std::vector<LinkId>& route) const override;
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
};

/// HyperX (Ahn et al. 2009): routers in a grid; in each dimension all routers of a line are linked with each other.
/// Ways correct one dimension after another, the last one first. Every link has the bandwidth of a node.
class HyperX : public Interconnect {
public:
    explicit HyperX(Topology const& topology);

protected:
    [[nodiscard]] double inner_capacity(LinkId link) const override;
    [[nodiscard]] std::string inner_name(LinkId link) const override;
    void add_inner(int from, int to, std::vector<LinkId>& route) const override;
    [[nodiscard]] int representative_of(int node) const override { return node % router_nodes_; }
    [[nodiscard]] LinkId inner_class(LinkId link) const override;

private:
    struct Dimension {
        int extent = 1;
        int stride = 1;
        int first = 0;  // of the links of a router
    };
    struct Link {
        int router = 0;
        std::size_t dimension = 0;
        int target = 0;  // coordinate
    };
    static int links_of_router(Topology const& topology);
    [[nodiscard]] Link link_of(LinkId link) const;
    [[nodiscard]] int coordinate(int router, std::size_t dimension) const {
        return router / dimensions_[dimension].stride % dimensions_[dimension].extent;
    }

    int router_nodes_;
    int per_router_;
    std::vector<Dimension> dimensions_;
};

}  // namespace dlmb::predict
