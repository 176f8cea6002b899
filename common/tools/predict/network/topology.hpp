// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// The network of a machine as a value: its kind, its extents, and how messages are routed. `interconnect.hpp` makes the
// links and the routes of it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace dlmb::predict {

enum class TopologyKind : std::uint8_t {
    torus,         // shape: extents, the last one fastest
    tree,          // shape: the number of nodes. Fat tree or dragonfly of unknown placement: a distance is that of the
                   // ranks' numbers, and there are no links
    fat_tree,      // shape: nodes per leaf switch, leaf switches per group, groups ...
    dragonfly,     // shape: nodes per router, routers per group, groups (Kim et al. 2008)
    hyperx,        // shape: nodes per router, routers of each dimension (Ahn et al. 2009)
    hamming_mesh,  // shape: a of the boards of a x a nodes, boards of a row, boards of a column (Hoefler et al. 2022)
};

enum class Routing : std::uint8_t {
    fixed,  // one minimal route per pair: dimension after dimension; fat tree: the parent follows from the destination
    adaptive,  // evenly over parallel links, and over the orders of the dimensions that begin with each of them
};

/// Where a board of a HammingMesh is.
struct Board {
    int column = 0;
    int row = 0;
    bool operator==(Board const&) const = default;
};

struct Topology {
    TopologyKind kind = TopologyKind::tree;
    std::vector<int> shape;
    int ranks_per_node = 1;  // consecutive ranks share a node
    Routing routing = Routing::fixed;
    double taper = 1;              // fat tree: bandwidth of a leaf switch upwards over that downwards
    int global_links = 0;          // dragonfly: of a router to other groups
    std::vector<Board> removed{};  // HammingMesh: boards that are broken or another job's
    int machine_dimensions = 0;    // torus: of the machine, into which a job of fewer is laid; 0: as many as the job's

    [[nodiscard]] int nodes() const;
    [[nodiscard]] int ranks() const { return nodes() * ranks_per_node; }
    /// Links from a node to the switch that has the sum of all nodes when switches reduce (Flare: De Sensi et al. 2021,
    /// arXiv:2106.15565; SHARP and NVLS alike). 0 without such switches (torus, HammingMesh, tree).
    [[nodiscard]] int reduction_depth() const;
    /// As parse_topology() reads it; of a tree as parse_nodes() does.
    [[nodiscard]] std::string text() const;
    bool operator==(Topology const&) const = default;
};

/// The nodes of a line of measurements: "64" is a tree of 64 nodes, "4x4x4" a torus. Throws UsageError for anything
/// else, for a count below 1, for one above 2^20 and for more than 8 extents.
[[nodiscard]] Topology parse_nodes(std::string_view nodes);

/// "torus:8x8x8", "fat-tree:32x32,taper=0.5", "dragonfly:4x8x33,global=4", "hyperx:8x8x8",
/// "hamming-mesh:2x16x16,without=3/5"; each may end in ",adaptive". Throws UsageError that says what is wrong.
[[nodiscard]] Topology parse_topology(std::string_view text);

/// What parse_topology() reads, for help texts and errors.
inline constexpr std::string_view topology_forms =
    "torus:8x8x8, fat-tree:32x32,taper=0.5, dragonfly:4x8x33, hyperx:8x8x8 or hamming-mesh:2x16x16";

/// What topology_of_family() reads, for help texts and errors.
inline constexpr std::string_view family_forms =
    "torus:2d, torus:3d, fat-tree, fat-tree,taper=0.5, dragonfly, hyperx:2d or hamming-mesh:2";

/// "torus:2d" (or 1d to 4d): extents as near to each other as the number allows. "fat-tree": leaf switches of up to 32
/// nodes, and one level above; adaptive. "dragonfly": balanced, 2 p routers of p nodes in a group. "hyperx:2d": as many
/// nodes at a router as routers in a dimension, or fewer. "hamming-mesh:A": boards of A x A, as many in a column as in
/// a row or nearly so. Options as of parse_topology() follow. A topology with its extents, as parse_topology() reads
/// it, is the family of that size. Throws UsageError where there is none of so many nodes.
[[nodiscard]] Topology topology_of_family(std::string_view family, int nodes);

}  // namespace dlmb::predict
