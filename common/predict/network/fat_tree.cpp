// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/predict/network/fat_tree.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace dlmb::predict {

std::vector<FatTree::Level> FatTree::levels_of(Topology const& topology) {
    std::vector<Level> levels;
    int const nodes = topology.nodes();
    int group_nodes = 1;
    int switches = 1;
    LinkId first = 0;
    for (std::size_t at = 0; at + 1 < topology.shape.size(); ++at) {
        Level level;
        group_nodes *= topology.shape[at];
        level.group_nodes = group_nodes;
        if (topology.routing == Routing::fixed) {
            double const wanted = at == 0 ? topology.shape[0] * topology.taper : topology.shape[at];
            level.switches = switches;
            level.choices = std::max(1, static_cast<int>(std::lround(wanted)));
            switches *= level.choices;
        }
        level.capacity = group_nodes * topology.taper / level.per_group();
        level.first = first;
        level.links = static_cast<LinkId>(nodes / group_nodes) * level.per_group();
        first += 2 * level.links;
        levels.push_back(level);
    }
    return levels;
}

FatTree::FatTree(Topology const& topology) : FatTree(topology, levels_of(topology)) {}

FatTree::FatTree(Topology const& topology, std::vector<Level> levels)
    : Interconnect(topology.nodes(), levels.empty() ? 0 : levels.back().first + 2 * levels.back().links),
      levels_(std::move(levels)), adaptive_(topology.routing == Routing::adaptive) {}

std::size_t FatTree::level_of(LinkId link) const {
    std::size_t level = levels_.size() - 1;
    while (link < levels_[level].first) {
        --level;
    }
    return level;
}

double FatTree::inner_capacity(LinkId link) const {
    return levels_[level_of(link)].capacity;
}

std::string FatTree::inner_name(LinkId link) const {
    std::size_t const at = level_of(link);
    Level const& level = levels_[at];
    LinkId const number = (link - level.first) % level.links;
    return fmt::format("level {} group {} {} {}", at + 1, number / level.per_group(),
                       link - level.first < level.links ? "up" : "down",
                       adaptive_ ? "(all links)" : fmt::format("link {}", number % level.per_group()));
}

void FatTree::add_inner(int from, int to, std::vector<WayLink>& way) const {
    LinkId copy = 0;  // which of the equal switches of a group
    int digits = to;
    for (Level const& level : levels_) {
        auto const group = static_cast<LinkId>(from / level.group_nodes);
        auto const target = static_cast<LinkId>(to / level.group_nodes);
        if (group == target) {
            return;
        }
        copy = copy * static_cast<LinkId>(level.choices) + static_cast<LinkId>(digits % level.choices);
        digits /= level.choices;
        way.push_back({level.first + group * level.per_group() + copy, 1});
        way.push_back({level.first + level.links + target * level.per_group() + copy, 1});
    }
}

int FatTree::representative_of(int node) const {
    return adaptive_ ? 0 : node;
}

LinkId FatTree::inner_class(LinkId link) const {
    if (!adaptive_) {
        return link;
    }
    Level const& level = levels_[level_of(link)];
    return link - level.first < level.links ? level.first : level.first + level.links;
}

}  // namespace dlmb::predict
