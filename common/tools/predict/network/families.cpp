// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/base/error.hpp"
#include "common/base/units.hpp"
#include "common/tools/predict/network/topology.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

namespace dlmb::predict {
namespace {

constexpr int most_leaf_nodes = 32;
constexpr int most_family_dimensions = 4;

int largest_divisor(int number, int most) {
    int divisor = std::min(number, most);
    while (number % divisor != 0) {
        --divisor;
    }
    return divisor;
}

/// Factors that are near to each other, the smallest first: the first is the largest divisor up to the root.
std::vector<int> near_factors(int number, int count) {
    std::vector<int> factors;
    for (; count > 1; --count) {
        int const root = static_cast<int>(std::floor(std::pow(number, 1.0 / count) + 1e-9));
        factors.push_back(largest_divisor(number, std::max(1, root)));
        number /= factors.back();
    }
    factors.push_back(number);
    std::sort(factors.begin(), factors.end());
    return factors;
}

/// "2d" -> 2.
std::optional<int> dimensions_of(std::string_view text) {
    if (!text.ends_with('d')) {
        return std::nullopt;
    }
    auto const count = parse_whole<int>(text.substr(0, text.size() - 1));
    return count && *count >= 1 && *count <= most_family_dimensions ? count : std::nullopt;
}

[[noreturn]] void refuse_size(std::string_view family, int nodes, std::string_view right) {
    throw UsageError(fmt::format("no {} has {} nodes; {}", family, nodes, right));
}

std::string dragonfly_shape(std::string_view family, int nodes) {
    for (int at_router = 1; 2 * at_router * at_router <= nodes; ++at_router) {
        int const group = 2 * at_router * at_router;
        if (nodes % group == 0 && nodes / group <= group + 1) {
            return fmt::format("{}x{}x{}", at_router, 2 * at_router, nodes / group);
        }
    }
    refuse_size(family, nodes, "a balanced one has 2 p^2 nodes in each of up to 2 p^2 + 1 groups");
}

}  // namespace

Topology topology_of_family(std::string_view family, int nodes) {
    auto const comma = std::min(family.find(','), family.size());
    std::string_view const options = family.substr(comma);
    std::string_view const head = family.substr(0, comma);
    auto const colon = std::min(head.find(':'), head.size());
    std::string_view const kind = head.substr(0, colon);
    std::string_view const detail = head.substr(std::min(colon + 1, head.size()));
    auto const dimensions = dimensions_of(detail);
    if (kind == "torus" && dimensions) {
        return parse_topology(fmt::format("torus:{}{}", fmt::join(near_factors(nodes, *dimensions), "x"), options));
    }
    if (kind == "fat-tree" && detail.empty()) {
        int const leaf = largest_divisor(nodes, most_leaf_nodes);
        return parse_topology(fmt::format("fat-tree:{}x{}{},adaptive", leaf, nodes / leaf, options));
    }
    if (kind == "dragonfly" && detail.empty()) {
        return parse_topology(fmt::format("dragonfly:{}{}", dragonfly_shape(family, nodes), options));
    }
    if (kind == "hyperx" && dimensions) {
        return parse_topology(
            fmt::format("hyperx:{}{}", fmt::join(near_factors(nodes, *dimensions + 1), "x"), options));
    }
    if (auto const side = parse_whole<int>(detail); kind == "hamming-mesh" && side && *side >= 1 && *side <= 1024) {
        if (nodes % (*side * *side) != 0) {
            refuse_size(family, nodes, fmt::format("its boards have {}", *side * *side));
        }
        return parse_topology(fmt::format("hamming-mesh:{}x{}{}", *side,
                                          fmt::join(near_factors(nodes / (*side * *side), 2), "x"), options));
    }
    if (detail.find('x') == std::string_view::npos) {
        throw UsageError(fmt::format("topology '{}': write for example {}", family, family_forms));
    }
    Topology topology = parse_topology(family);
    if (topology.nodes() != nodes) {
        refuse_size(family, nodes, fmt::format("it has {}", topology.nodes()));
    }
    return topology;
}

}  // namespace dlmb::predict
