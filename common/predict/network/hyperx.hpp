// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// HyperX (Ahn et al. 2009): routers in a grid; in each dimension all routers of a line are linked with each other. Ways
// correct one dimension after another, the last one first. Every link has the bandwidth of a node.
#pragma once

#include "common/predict/network/interconnect.hpp"

namespace dlmb::predict {

class HyperX : public Interconnect {
public:
    explicit HyperX(Topology const& topology);

protected:
    [[nodiscard]] double inner_capacity(LinkId link) const override;
    [[nodiscard]] std::string inner_name(LinkId link) const override;
    void add_inner(int from, int to, std::vector<WayLink>& way) const override;
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
    bool adaptive_;
};

}  // namespace dlmb::predict
