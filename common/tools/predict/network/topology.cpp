// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/tools/predict/network/topology.hpp"

#include "common/base/error.hpp"
#include "common/base/units.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <functional>
#include <numeric>

namespace dlmb::predict {
namespace {

constexpr int most_nodes = 1 << 20;
constexpr std::size_t most_dimensions = 8;

struct NamedKind {
    TopologyKind kind;
    std::string_view name;
    std::size_t fewest;  // extents
    std::size_t most;
};
constexpr std::array named_kinds{
    NamedKind{TopologyKind::torus, "torus", 1, most_dimensions},
    NamedKind{TopologyKind::fat_tree, "fat-tree", 1, 4},
    NamedKind{TopologyKind::dragonfly, "dragonfly", 3, 3},
    NamedKind{TopologyKind::hyperx, "hyperx", 2, most_dimensions},
    NamedKind{TopologyKind::hamming_mesh, "hamming-mesh", 3, 3},
};

int product_of(std::vector<int> const& shape) {
    return std::accumulate(shape.begin(), shape.end(), 1, std::multiplies<>());
}

/// False: no extents of 1 to 2^20 nodes.
bool read_shape(std::string_view text, std::vector<int>& shape) {
    std::int64_t product = 1;
    for (std::string_view const part : split(text, "x")) {
        auto const extent = parse_whole<int>(part);
        if (!extent || *extent < 1 || (product *= *extent) > most_nodes || shape.size() == most_dimensions) {
            return false;
        }
        shape.push_back(*extent);
    }
    return true;
}

[[noreturn]] void refuse(std::string_view text, std::string_view why) {
    throw UsageError(fmt::format("topology '{}': {}; write for example {}", text, why, topology_forms));
}

Board read_board(std::string_view text, std::string_view value, Topology const& topology) {
    auto const parts = split(value, "/");
    auto const column = parse_whole<int>(parts.front());
    auto const row = parse_whole<int>(parts.back());
    if (parts.size() != 2 || !column || !row || *column < 0 || *column >= topology.shape[1] || *row < 0 ||
        *row >= topology.shape[2]) {
        refuse(text, fmt::format("'{}' is no COLUMN/ROW of a board", value));
    }
    return {*column, *row};
}

void read_option(std::string_view text, std::string_view option, Topology& topology) {
    auto const equals = option.find('=');
    std::string_view const name = option.substr(0, equals);
    std::string_view const value = equals == std::string_view::npos ? "" : option.substr(equals + 1);
    if (name == "taper" && topology.kind == TopologyKind::fat_tree) {
        auto const taper = parse_whole<double>(value);
        if (!taper || *taper <= 0 || *taper > 1) {
            refuse(text, "taper is no number above 0 and up to 1");
        }
        topology.taper = *taper;
    } else if (name == "without" && topology.kind == TopologyKind::hamming_mesh) {
        Board const board = read_board(text, value, topology);
        if (std::find(topology.removed.begin(), topology.removed.end(), board) != topology.removed.end()) {
            refuse(text, fmt::format("board {} is removed twice", value));
        }
        topology.removed.push_back(board);
    } else {
        refuse(text, fmt::format("unknown option '{}'", option));
    }
}

}  // namespace

int wide_dimensions_of(std::vector<int> const& shape) {
    return static_cast<int>(std::count_if(shape.begin(), shape.end(), [](int extent) { return extent > 1; }));
}

int Topology::nodes() const {
    int const boards_removed = static_cast<int>(removed.size());
    if (kind == TopologyKind::hamming_mesh) {
        return shape[0] * shape[0] * (shape[1] * shape[2] - boards_removed);
    }
    return product_of(shape);
}

int Topology::reduction_depth() const {
    switch (kind) {
    case TopologyKind::fat_tree:
        return static_cast<int>(shape.size());
    case TopologyKind::hyperx:
        return 1 + wide_dimensions_of({shape.begin() + 1, shape.end()});
    case TopologyKind::dragonfly: {
        // To the router of the group that has the link to the root's group, over it, and to the root.
        int const in_group = shape[1] > 1 ? 1 : 0;
        return 1 + (shape[2] > 1 ? 1 + 2 * in_group : in_group);
    }
    case TopologyKind::torus:
    case TopologyKind::hamming_mesh:
    case TopologyKind::tree:
        break;
    }
    return 0;
}

std::string Topology::text() const {
    std::string extents = fmt::format("{}", fmt::join(shape, "x"));
    if (kind == TopologyKind::tree) {
        return extents;
    }
    auto const* const named =
        std::find_if(named_kinds.begin(), named_kinds.end(), [&](NamedKind const& each) { return each.kind == kind; });
    std::string text = fmt::format("{}:{}", named->name, extents);
    if (taper != 1) {
        text += fmt::format(",taper={}", taper);
    }
    for (Board const& board : removed) {
        text += fmt::format(",without={}/{}", board.column, board.row);
    }
    return text;
}

Topology parse_nodes(std::string_view nodes) {
    Topology topology;
    if (!read_shape(nodes, topology.shape)) {
        throw UsageError(fmt::format("nodes '{}' is no count such as 64 and no shape such as 4x4x4, of 1 to {} nodes",
                                     nodes, most_nodes));
    }
    topology.kind = topology.shape.size() > 1 ? TopologyKind::torus : TopologyKind::tree;
    return topology;
}

Topology parse_topology(std::string_view text) {
    auto const colon = std::min(text.find(':'), text.size());
    auto const* const named = std::find_if(named_kinds.begin(), named_kinds.end(),
                                           [&](NamedKind const& each) { return each.name == text.substr(0, colon); });
    if (named == named_kinds.end()) {
        refuse(text, "unknown kind");
    }
    auto const parts = split(text.substr(std::min(colon + 1, text.size())), ",");
    Topology topology;
    topology.kind = named->kind;
    if (!read_shape(parts.front(), topology.shape) || topology.shape.size() < named->fewest ||
        topology.shape.size() > named->most) {
        refuse(text,
               fmt::format("'{}' are no extents of a {} of up to {} nodes", parts.front(), named->name, most_nodes));
    }
    if (topology.kind == TopologyKind::hamming_mesh &&
        std::int64_t{topology.shape[0]} * product_of(topology.shape) > most_nodes) {
        refuse(text, fmt::format("more than {} nodes", most_nodes));
    }
    for (std::size_t index = 1; index < parts.size(); ++index) {
        read_option(text, parts[index], topology);
    }
    if (topology.nodes() < 1) {
        refuse(text, "no board is left");
    }
    return topology;
}

}  // namespace dlmb::predict
