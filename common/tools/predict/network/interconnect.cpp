// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/tools/predict/network/interconnect.hpp"

#include "common/base/error.hpp"
#include "common/base/philox.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace dlmb::predict {
namespace {

constexpr std::int64_t most_inner_links = std::int64_t{1} << 24;  // 2^20 nodes in a torus of 8 dimensions have these

}  // namespace

Interconnect::Interconnect(Topology const& topology, std::int64_t inner_links)
    : topology_(topology), nodes_(topology.nodes()), inner_links_(static_cast<LinkId>(inner_links)) {
    if (inner_links > most_inner_links) {
        throw UsageError(
            fmt::format("topology '{}': {} links; the most is {}", topology.text(), inner_links, most_inner_links));
    }
}

double Interconnect::capacity(LinkId link) const {
    auto const own = 2 * static_cast<LinkId>(nodes_);
    return link < own ? 1 : inner_capacity(link - own);
}

std::string Interconnect::name(LinkId link) const {
    auto const nodes = static_cast<LinkId>(nodes_);
    if (link < nodes) {
        return fmt::format("out of node {}", link);
    }
    return link < 2 * nodes ? fmt::format("into node {}", link - nodes) : inner_name(link - 2 * nodes);
}

void Interconnect::route(int from, int to, std::vector<LinkId>& route) const {
    route.clear();
    add_inner(from, to, route);
    auto const nodes = static_cast<LinkId>(nodes_);
    for (LinkId& link : route) {
        link += 2 * nodes;
    }
    route.push_back(static_cast<LinkId>(from));
    route.push_back(nodes + static_cast<LinkId>(to));
}

std::vector<int> Interconnect::representatives() const {
    std::vector<int> found;
    for (int node = 0; node < nodes_; ++node) {
        if (representative_of(node) == node) {
            found.push_back(node);
        }
    }
    return found;
}

LinkId Interconnect::class_of(LinkId link) const {
    auto const nodes = static_cast<LinkId>(nodes_);
    if (link < nodes) {
        return static_cast<LinkId>(representative_of(static_cast<int>(link)));
    }
    if (link < 2 * nodes) {
        return nodes + static_cast<LinkId>(representative_of(static_cast<int>(link - nodes)));
    }
    return 2 * nodes + inner_class(link - 2 * nodes);
}

std::vector<int> Interconnect::order(Placement /*placement*/) const {
    std::vector<int> nodes(static_cast<std::size_t>(nodes_));
    std::iota(nodes.begin(), nodes.end(), 0);
    return nodes;
}

std::unique_ptr<Interconnect> interconnect_of(Topology const& topology) {
    switch (topology.kind) {
    case TopologyKind::torus:
        return torus_of(topology);
    case TopologyKind::fat_tree:
        return fat_tree_of(topology);
    case TopologyKind::dragonfly:
        return dragonfly_of(topology);
    case TopologyKind::hyperx:
        return hyperx_of(topology);
    case TopologyKind::hamming_mesh:
        return hamming_mesh_of(topology);
    case TopologyKind::tree:
        break;
    }
    throw UsageError(fmt::format("topology '{}' has no links; write for example {}", topology.text(), topology_forms));
}

std::vector<int> nodes_of_ranks(Interconnect const& interconnect, Placement placement, int ranks, int ranks_per_node,
                                std::uint64_t seed) {
    int const needed = (ranks + ranks_per_node - 1) / ranks_per_node;
    if (needed > interconnect.nodes()) {
        throw UsageError(fmt::format("{} ranks with {} per node need {} nodes, but the network has {}", ranks,
                                     ranks_per_node, needed, interconnect.nodes()));
    }
    std::vector<int> order = interconnect.order(placement);
    if (placement == Placement::random) {  // Fisher and Yates
        RandomSequence random(seed, 0, 0, 0);
        for (auto last = static_cast<std::uint32_t>(order.size()); last > 1; --last) {
            std::swap(order[last - 1], order[below(random.next(), last)]);
        }
    }
    std::vector<int> nodes(static_cast<std::size_t>(ranks));
    for (std::size_t rank = 0; rank < nodes.size(); ++rank) {
        nodes[rank] = order[rank / static_cast<std::size_t>(ranks_per_node)];
    }
    return nodes;
}

}  // namespace dlmb::predict
