// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Fat tree, as an XGFT (Oehring et al. 1995): a switch of level 1 has shape[0] nodes, a group of level 2 has shape[1]
// such switches, and so on. Leaf switches have taper * shape[0] links upwards, all others as many as downwards. Fixed
// routes are those of D-mod-k (Zahavi 2012): the destination chooses the parent. With adaptive routes the links between
// a group and the level above share what passes evenly, which is one link of their joint capacity.
#pragma once

#include "common/predict/network/interconnect.hpp"

namespace dlmb::predict {

class FatTree : public Interconnect {
public:
    explicit FatTree(Topology const& topology);

protected:
    [[nodiscard]] double inner_capacity(LinkId link) const override;
    [[nodiscard]] std::string inner_name(LinkId link) const override;
    void add_inner(int from, int to, std::vector<WayLink>& way) const override;
    [[nodiscard]] int representative_of(int node) const override;
    [[nodiscard]] LinkId inner_class(LinkId link) const override;

private:
    /// The links between the groups of a level and the next one; upwards first, then as many downwards.
    struct Level {
        int group_nodes = 1;
        int choices = 1;   // parents of a switch
        int switches = 1;  // of a group at this level
        LinkId first = 0;
        LinkId links = 0;  // in one direction
        double capacity = 1;
        [[nodiscard]] LinkId per_group() const { return static_cast<LinkId>(switches * choices); }
    };
    static std::vector<Level> levels_of(Topology const& topology);
    FatTree(Topology const& topology, std::vector<Level> levels);
    [[nodiscard]] std::size_t level_of(LinkId link) const;

    std::vector<Level> levels_;
    bool adaptive_;
};

}  // namespace dlmb::predict
