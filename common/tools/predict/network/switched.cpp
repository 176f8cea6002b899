// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Networks of switches: fat tree, dragonfly and HyperX.
#include "common/base/error.hpp"
#include "common/tools/predict/network/interconnect.hpp"

#include <fmt/format.h>

#include <numeric>

namespace dlmb::predict {
namespace {

/// Fat tree: a switch of level 1 has shape[0] nodes, a group of level 2 has shape[1] such switches, and so on. The
/// links between a group and the level above share what passes evenly, as adaptive routing makes them, which is one
/// link of their joint capacity: taper times what the nodes of the group inject.
class FatTree : public Interconnect {
    /// The links between the groups of a level and the next one; upwards first, then as many downwards.
    struct Level {
        int group_nodes = 1;
        LinkId first = 0;
        LinkId links = 0;  // in one direction
        double capacity = 1;
    };

public:
    explicit FatTree(Topology const& topology) : FatTree(topology, levels_of(topology)) {}

protected:
    [[nodiscard]] double inner_capacity(LinkId link) const override { return level_of(link).capacity; }
    [[nodiscard]] std::string inner_name(LinkId link) const override {
        Level const& level = level_of(link);
        return fmt::format("level {} group {} {}", &level - levels_.data() + 1, (link - level.first) % level.links,
                           link - level.first < level.links ? "up" : "down");
    }
    void add_inner(int from, int to, std::vector<LinkId>& route) const override {
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
    [[nodiscard]] int representative_of(int /*node*/) const override { return 0; }
    [[nodiscard]] LinkId inner_class(LinkId link) const override {
        Level const& level = level_of(link);
        return link - level.first < level.links ? level.first : level.first + level.links;
    }

private:
    FatTree(Topology const& topology, std::vector<Level> levels)
        : Interconnect(topology, levels.empty() ? 0 : levels.back().first + 2 * levels.back().links),
          levels_(std::move(levels)) {}

    static std::vector<Level> levels_of(Topology const& topology) {
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
    [[nodiscard]] Level const& level_of(LinkId link) const {
        std::size_t level = levels_.size() - 1;
        while (link < levels_[level].first) {
            --level;
        }
        return levels_[level];
    }

    std::vector<Level> levels_;
};

/// Dragonfly (Kim et al. 2008): groups of routers that are all linked with each other; each router also has as many
/// links to other groups as nodes. Port k of a group (k / global links of a router is its router) goes to the group 1 +
/// k mod (groups - 1) further on. Ways: within the group to the router of a link to the target's group, over it, and on
/// within that group. Of several links between two groups the destination chooses one. Every link has the bandwidth of
/// a node.
class Dragonfly : public Interconnect {
public:
    explicit Dragonfly(Topology const& topology)
        : Interconnect(topology,
                       std::int64_t{topology.shape[2]} * topology.shape[1] * (topology.shape[1] + topology.shape[0])),
          router_nodes_(topology.shape[0]), routers_(topology.shape[1]), groups_(topology.shape[2]),
          parallel_(groups_ > 1 ? routers_ * router_nodes_ / (groups_ - 1) : 0) {
        if (groups_ > 1 && parallel_ == 0) {
            throw UsageError(fmt::format("topology '{}': a group has {} links to others, too few for {} groups",
                                         topology.text(), routers_ * router_nodes_, groups_));
        }
    }

protected:
    [[nodiscard]] double inner_capacity(LinkId link) const override {
        int const number = static_cast<int>(link % per_group());
        if (number < routers_ * routers_) {
            return number / routers_ == number % routers_ ? 0 : 1;
        }
        return number - routers_ * routers_ < parallel_ * (groups_ - 1) ? 1 : 0;
    }
    [[nodiscard]] std::string inner_name(LinkId link) const override {
        int const group = static_cast<int>(link / per_group());
        int const number = static_cast<int>(link % per_group());
        if (number < routers_ * routers_) {
            return fmt::format("group {} router {} to router {}", group, number / routers_, number % routers_);
        }
        int const port = number - routers_ * routers_;
        return fmt::format("group {} to group {}, port {}", group, (group + 1 + port % (groups_ - 1)) % groups_, port);
    }
    void add_inner(int from, int to, std::vector<LinkId>& route) const override {
        int const group_nodes = router_nodes_ * routers_;
        int const group = from / group_nodes;
        int const target = to / group_nodes;
        int const last = to % group_nodes / router_nodes_;
        auto const go_inside = [&](int of_group, int router, int other) {
            if (router != other) {
                route.push_back(static_cast<LinkId>(of_group) * per_group() +
                                static_cast<LinkId>(router * routers_ + other));
            }
        };
        int router = from % group_nodes / router_nodes_;
        if (group != target) {
            int const ahead = (target - group - 1 + groups_) % groups_;  // 0: the next group
            int const link = to % group_nodes % parallel_;
            int const port = link * (groups_ - 1) + ahead;
            go_inside(group, router, port / router_nodes_);
            route.push_back(static_cast<LinkId>(group) * per_group() + static_cast<LinkId>(routers_ * routers_ + port));
            router = (link * (groups_ - 1) + groups_ - 2 - ahead) / router_nodes_;  // of the port that leads back
        }
        go_inside(target, router, last);
    }
    [[nodiscard]] int representative_of(int node) const override { return node % (router_nodes_ * routers_); }
    [[nodiscard]] LinkId inner_class(LinkId link) const override { return link % per_group(); }

private:
    /// Numbers of the links of a group: routers^2 inside, then its ports.
    [[nodiscard]] LinkId per_group() const {
        return static_cast<LinkId>(routers_ * routers_ + routers_ * router_nodes_);
    }

    int router_nodes_;
    int routers_;
    int groups_;
    int parallel_;  // links between two groups
};

/// HyperX (Ahn et al. 2009): routers in a grid; in each dimension all routers of a line are linked with each other.
/// Ways correct one dimension after another, the last one first. Every link has the bandwidth of a node.
class HyperX : public Interconnect {
public:
    explicit HyperX(Topology const& topology)
        : Interconnect(topology, std::int64_t{topology.nodes() / topology.shape[0]} * links_of_router(topology)),
          router_nodes_(topology.shape[0]), per_router_(links_of_router(topology)),
          dimensions_(topology.shape.size() - 1) {
        int stride = 1;
        int first = per_router_;
        for (std::size_t at = dimensions_.size(); at-- > 0;) {
            int const extent = topology.shape[at + 1];
            first -= extent;
            dimensions_[at] = {extent, stride, first};
            stride *= extent;
        }
    }

protected:
    [[nodiscard]] double inner_capacity(LinkId link) const override {
        Link const at = link_of(link);
        return coordinate(at.router, at.dimension) == at.target ? 0 : 1;
    }
    [[nodiscard]] std::string inner_name(LinkId link) const override {
        Link const at = link_of(link);
        return fmt::format("router {} in dimension {} to coordinate {}", at.router, at.dimension, at.target);
    }
    void add_inner(int from, int to, std::vector<LinkId>& route) const override {
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
    [[nodiscard]] int representative_of(int node) const override { return node % router_nodes_; }
    [[nodiscard]] LinkId inner_class(LinkId link) const override {
        Link const at = link_of(link);
        Dimension const& dimension = dimensions_[at.dimension];
        int const apart = (at.target - coordinate(at.router, at.dimension) + dimension.extent) % dimension.extent;
        return static_cast<LinkId>(dimension.first + apart);
    }

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
    static int links_of_router(Topology const& topology) {
        return std::accumulate(topology.shape.begin() + 1, topology.shape.end(), 0);
    }
    [[nodiscard]] Link link_of(LinkId link) const {
        int const number = static_cast<int>(link % static_cast<LinkId>(per_router_));
        std::size_t dimension = dimensions_.size() - 1;
        while (number < dimensions_[dimension].first) {
            --dimension;
        }
        return {static_cast<int>(link / static_cast<LinkId>(per_router_)), dimension,
                number - dimensions_[dimension].first};
    }
    [[nodiscard]] int coordinate(int router, std::size_t dimension) const {
        return router / dimensions_[dimension].stride % dimensions_[dimension].extent;
    }

    int router_nodes_;
    int per_router_;
    std::vector<Dimension> dimensions_;
};

}  // namespace

std::unique_ptr<Interconnect> fat_tree_of(Topology const& topology) {
    return std::make_unique<FatTree>(topology);
}
std::unique_ptr<Interconnect> dragonfly_of(Topology const& topology) {
    return std::make_unique<Dragonfly>(topology);
}
std::unique_ptr<Interconnect> hyperx_of(Topology const& topology) {
    return std::make_unique<HyperX>(topology);
}

}  // namespace dlmb::predict
