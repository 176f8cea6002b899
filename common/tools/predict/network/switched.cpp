// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/tools/predict/network/switched.hpp"

#include "common/base/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace dlmb::predict {

std::vector<FatTree::Level> FatTree::levels_of(Topology const& topology) {
    std::vector<Level> levels;
    int group_nodes = 1;
    LinkId first = 0;
    for (std::size_t at = 0; at + 1 < topology.shape.size(); ++at) {
        group_nodes *= topology.shape[at];
        auto const groups = static_cast<LinkId>(topology.nodes() / group_nodes);
        levels.push_back({group_nodes, first, groups, group_nodes * topology.taper});
        first += 2 * groups;
    }
    return levels;
}

FatTree::FatTree(Topology const& topology) : FatTree(topology, levels_of(topology)) {}

FatTree::FatTree(Topology const& topology, std::vector<Level> levels)
    : Interconnect(topology, levels.empty() ? 0 : levels.back().first + 2 * levels.back().links),
      levels_(std::move(levels)) {}

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
    return fmt::format("level {} group {} {}", at + 1, (link - level.first) % level.links,
                       link - level.first < level.links ? "up" : "down");
}

void FatTree::add_inner(int from, int to, std::vector<LinkId>& route) const {
    for (Level const& level : levels_) {
        auto const group = static_cast<LinkId>(from / level.group_nodes);
        auto const target = static_cast<LinkId>(to / level.group_nodes);
        if (group == target) {
            return;
        }
        route.push_back(level.first + group);
        route.push_back(level.first + level.links + target);
    }
}

LinkId FatTree::inner_class(LinkId link) const {
    Level const& level = levels_[level_of(link)];
    return link - level.first < level.links ? level.first : level.first + level.links;
}

Dragonfly::Dragonfly(Topology const& topology)
    : Interconnect(topology,
                   std::int64_t{topology.shape[2]} * topology.shape[1] * (topology.shape[1] + topology.global_links)),
      router_nodes_(topology.shape[0]), routers_(topology.shape[1]), groups_(topology.shape[2]),
      global_(topology.global_links), parallel_(groups_ > 1 ? routers_ * global_ / (groups_ - 1) : 0) {
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

void Dragonfly::add_inner(int from, int to, std::vector<LinkId>& route) const {
    int const group_nodes = router_nodes_ * routers_;
    int const group = from / group_nodes;
    int const target = to / group_nodes;
    int const router = from % group_nodes / router_nodes_;
    int const last = to % group_nodes / router_nodes_;
    if (group == target) {
        if (router != last) {
            route.push_back(inside(group, router, last));
        }
        return;
    }
    int const ahead = (target - group - 1 + groups_) % groups_;  // 0: the next group
    int const link = to % group_nodes % parallel_;
    int const port = link * (groups_ - 1) + ahead;
    int const end = link * (groups_ - 1) + groups_ - 2 - ahead;  // the port of the target that leads back
    if (port / global_ != router) {
        route.push_back(inside(group, router, port / global_));
    }
    route.push_back(static_cast<LinkId>(group) * per_group() + static_cast<LinkId>(routers_ * routers_ + port));
    if (end / global_ != last) {
        route.push_back(inside(target, end / global_, last));
    }
}

int HyperX::links_of_router(Topology const& topology) {
    return std::accumulate(topology.shape.begin() + 1, topology.shape.end(), 0);
}

HyperX::HyperX(Topology const& topology)
    : Interconnect(topology, std::int64_t{topology.nodes() / topology.shape[0]} * links_of_router(topology)),
      router_nodes_(topology.shape[0]), per_router_(links_of_router(topology)), dimensions_(topology.shape.size() - 1) {
    int stride = 1;
    int first = per_router_;
    for (std::size_t at = dimensions_.size(); at-- > 0;) {
        int const extent = topology.shape[at + 1];
        first -= extent;
        dimensions_[at] = {extent, stride, first};
        stride *= extent;
    }
}

HyperX::Link HyperX::link_of(LinkId link) const {
    int const number = static_cast<int>(link % static_cast<LinkId>(per_router_));
    std::size_t dimension = dimensions_.size() - 1;
    while (number < dimensions_[dimension].first) {
        --dimension;
    }
    return {static_cast<int>(link / static_cast<LinkId>(per_router_)), dimension,
            number - dimensions_[dimension].first};
}

double HyperX::inner_capacity(LinkId link) const {
    Link const at = link_of(link);
    return coordinate(at.router, at.dimension) == at.target ? 0 : 1;
}

std::string HyperX::inner_name(LinkId link) const {
    Link const at = link_of(link);
    return fmt::format("router {} in dimension {} to coordinate {}", at.router, at.dimension, at.target);
}

void HyperX::add_inner(int from, int to, std::vector<LinkId>& route) const {
    int const target = to / router_nodes_;
    int router = from / router_nodes_;
    for (std::size_t dimension = dimensions_.size(); dimension-- > 0;) {
        int const wanted = coordinate(target, dimension);
        if (int const apart = wanted - coordinate(router, dimension); apart != 0) {
            route.push_back(static_cast<LinkId>(router * per_router_ + dimensions_[dimension].first + wanted));
            router += apart * dimensions_[dimension].stride;
        }
    }
}

LinkId HyperX::inner_class(LinkId link) const {
    Link const at = link_of(link);
    Dimension const& dimension = dimensions_[at.dimension];
    int const apart = (at.target - coordinate(at.router, at.dimension) + dimension.extent) % dimension.extent;
    return static_cast<LinkId>(dimension.first + apart);
}

}  // namespace dlmb::predict
