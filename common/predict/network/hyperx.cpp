// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/predict/network/hyperx.hpp"

#include <fmt/format.h>

#include <numeric>

namespace dlmb::predict {

int HyperX::links_of_router(Topology const& topology) {
    return std::accumulate(topology.shape.begin() + 1, topology.shape.end(), 0);
}

HyperX::HyperX(Topology const& topology)
    : Interconnect(topology.nodes(),
                   static_cast<LinkId>(topology.nodes() / topology.shape[0] * links_of_router(topology))),
      router_nodes_(topology.shape[0]), per_router_(links_of_router(topology)), dimensions_(topology.shape.size() - 1),
      adaptive_(topology.routing == Routing::adaptive) {
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

void HyperX::add_inner(int from, int to, std::vector<WayLink>& way) const {
    int const target = to / router_nodes_;
    std::size_t const dimensions = dimensions_.size();
    std::size_t const orders = adaptive_ ? dimensions : 1;
    for (std::size_t order = 0; order < orders; ++order) {
        int router = from / router_nodes_;
        for (std::size_t turn = 0; turn < dimensions; ++turn) {
            std::size_t const dimension = (2 * dimensions - 1 - order - turn) % dimensions;
            int const wanted = coordinate(target, dimension);
            int const apart = wanted - coordinate(router, dimension);
            if (apart != 0) {
                way.push_back({static_cast<LinkId>(router * per_router_ + dimensions_[dimension].first + wanted),
                               1.0 / static_cast<double>(orders)});
                router += apart * dimensions_[dimension].stride;
            }
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
