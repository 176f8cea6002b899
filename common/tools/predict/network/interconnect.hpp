// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// The links of a topology, and the route of a message over them. Bandwidths are relative: 1 is what a node can inject,
// and what all of its ports carry together, so that topologies compare at equal injection bandwidth.
#pragma once

#include "common/tools/predict/network/topology.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace dlmb::predict {

/// Directed. The first 2 N of N nodes are those from a node into the network (its number) and out of it (N + number).
using LinkId = std::uint32_t;

/// In which order ranks take the nodes.
enum class Placement { row_major, blocked, random };

class Interconnect {
public:
    Interconnect(Interconnect const&) = delete;
    Interconnect& operator=(Interconnect const&) = delete;
    virtual ~Interconnect() = default;

    [[nodiscard]] Topology const& topology() const { return topology_; }
    [[nodiscard]] int nodes() const { return nodes_; }
    [[nodiscard]] LinkId links() const { return 2 * static_cast<LinkId>(nodes_) + inner_links_; }
    /// 0: there is no such link (the numbers have gaps, such as the outer ports of a board without neighbour).
    [[nodiscard]] double capacity(LinkId link) const;
    /// "out of node 3", "node 3 up in dimension 0".
    [[nodiscard]] std::string name(LinkId link) const;

    /// Fills in the route between two nodes that differ: the links between them, the one into the network and the one
    /// out of it. A link is in it once.
    void route(int from, int to, std::vector<LinkId>& route) const;

    /// Symmetry: a group of permutations of the nodes that carries routes into routes. Every node is the image of
    /// exactly one of these, of each equally often. All nodes: no symmetry is known.
    [[nodiscard]] std::vector<int> representatives() const;
    /// Links of one class are images of each other.
    [[nodiscard]] LinkId class_of(LinkId link) const;

    /// Nodes in the order of row_major: by coordinates in the machine, or blocked: board by board. Without boards both
    /// are the order of the numbers.
    [[nodiscard]] virtual std::vector<int> order(Placement placement) const;

protected:
    /// Throws UsageError for more than 2^24 inner links: whoever asks for loads or rates keeps a state of each link.
    Interconnect(Topology const& topology, std::int64_t inner_links);
    // The links behind the first 2 N, counted from 0.
    [[nodiscard]] virtual double inner_capacity(LinkId link) const = 0;
    [[nodiscard]] virtual std::string inner_name(LinkId link) const = 0;
    /// Adds the route between the two with the numbers of those links.
    virtual void add_inner(int from, int to, std::vector<LinkId>& route) const = 0;
    // Symmetry. The representative that a node is an image of, which is its own.
    [[nodiscard]] virtual int representative_of(int node) const { return node; }
    [[nodiscard]] virtual LinkId inner_class(LinkId link) const { return link; }

private:
    Topology topology_;
    int nodes_;
    LinkId inner_links_;
};

// By kind; interconnect_of() chooses.
[[nodiscard]] std::unique_ptr<Interconnect> torus_of(Topology const& topology);
[[nodiscard]] std::unique_ptr<Interconnect> fat_tree_of(Topology const& topology);
[[nodiscard]] std::unique_ptr<Interconnect> dragonfly_of(Topology const& topology);
[[nodiscard]] std::unique_ptr<Interconnect> hyperx_of(Topology const& topology);
[[nodiscard]] std::unique_ptr<Interconnect> hamming_mesh_of(Topology const& topology);

/// Throws UsageError: a tree has no links; a HammingMesh without so many boards that two others have no route; a
/// dragonfly of more groups than its global links reach; more than 2^24 links between nodes.
[[nodiscard]] std::unique_ptr<Interconnect> interconnect_of(Topology const& topology);

/// Which node each rank is on: ranks / ranks_per_node nodes in the order of the placement; random: by the seed.
/// Throws UsageError where there are more ranks than places.
[[nodiscard]] std::vector<int> nodes_of_ranks(Interconnect const& interconnect, Placement placement, int ranks,
                                              int ranks_per_node, std::uint64_t seed);

}  // namespace dlmb::predict
