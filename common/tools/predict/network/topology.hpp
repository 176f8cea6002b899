// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// The network of a machine as a value: its kind and its extents. `interconnect.hpp` makes the links and the routes of
// it.
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

/// Where a board of a HammingMesh is.
struct Board {
    int column = 0;
    int row = 0;
    bool operator==(Board const&) const = default;
};

struct Topology {
    TopologyKind kind = TopologyKind::tree;
    std::vector<int> shape;
    int ranks_per_node = 1;        // consecutive ranks share a node
    double taper = 1;              // fat tree: bandwidth of a leaf switch upwards over that downwards
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

/// Extents above 1.
[[nodiscard]] int wide_dimensions_of(std::vector<int> const& shape);

/// The nodes of a line of measurements: "64" is a tree of 64 nodes, "4x4x4" a torus. Throws UsageError for anything
/// else, for a count below 1, for one above 2^20 and for more than 8 extents.
[[nodiscard]] Topology parse_nodes(std::string_view nodes);

/// "torus:8x8x8", "fat-tree:32x32,taper=0.5", "dragonfly:4x8x33", "hyperx:8x8x8",
/// "hamming-mesh:2x16x16,without=3/5". Throws UsageError that says what is wrong.
[[nodiscard]] Topology parse_topology(std::string_view text);

/// The forms that parse_topology() reads, for help texts and errors.
inline constexpr std::string_view topology_forms =
    "torus:8x8x8, fat-tree:32x32,taper=0.5, dragonfly:4x8x33, hyperx:8x8x8 or hamming-mesh:2x16x16";

}  // namespace dlmb::predict
