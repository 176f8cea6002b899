// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/predict/topology.hpp"

#include "common/base/error.hpp"
#include "common/base/units.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

namespace dlmb::predict {
namespace {

constexpr int most_nodes = 1 << 20;
constexpr std::size_t most_dimensions = 8;

/// Adds up what goes over each link of a torus: node, dimension, direction.
class TorusLinks {
public:
    explicit TorusLinks(std::vector<int> const& shape)
        : shape_(shape), strides_(shape.size()),
          loads_(2 * shape.size() *
                 static_cast<std::size_t>(std::accumulate(shape.begin(), shape.end(), 1, std::multiplies<>()))) {
        int stride = 1;
        for (std::size_t at = shape.size(); at-- > 0;) {
            strides_[at] = stride;
            stride *= shape[at];
        }
    }

    /// One dimension after another, the fastest first, the short way around. Half a ring is gone upwards; where pairs
    /// exchange (`both_ways`), half of them go up and half down. Returns the number of links.
    int add(int from, int to, double share, bool both_ways) {
        int hops = 0;
        int node = from;
        for (std::size_t dimension = shape_.size(); dimension-- > 0;) {
            int const extent = shape_[dimension];
            int const stride = strides_[dimension];
            int at = node / stride % extent;
            int const ahead = (to / stride % extent - at + extent) % extent;
            bool const up = 2 * ahead < extent || (2 * ahead == extent && (!both_ways || at % 2 == 0));
            for (int left = up ? ahead : extent - ahead; left > 0; --left) {
                loads_[2 * (static_cast<std::size_t>(node) * shape_.size() + dimension) + (up ? 1 : 0)] += share;
                int const next = up ? (at + 1) % extent : (at + extent - 1) % extent;
                node += (next - at) * stride;
                at = next;
                ++hops;
            }
        }
        return hops;
    }

    [[nodiscard]] double busiest() const { return *std::max_element(loads_.begin(), loads_.end()); }
    void clear() { std::fill(loads_.begin(), loads_.end(), 0.0); }

private:
    std::vector<int> shape_;
    std::vector<int> strides_;
    std::vector<double> loads_;
};

double largest(std::vector<double> const& values) {
    return *std::max_element(values.begin(), values.end());
}

}  // namespace

int Topology::nodes() const {
    return std::accumulate(shape.begin(), shape.end(), 1, std::multiplies<>());
}

std::string Topology::text() const {
    return fmt::format("{}", fmt::join(shape, "x"));
}

Topology parse_topology(std::string_view nodes) {
    Topology topology;
    std::int64_t product = 1;
    for (std::string_view const part : split(nodes, "x")) {
        auto const extent = parse_whole<int>(part);
        if (!extent || *extent < 1 || (product *= *extent) > most_nodes || topology.shape.size() == most_dimensions) {
            throw UsageError(fmt::format(
                "nodes '{}' is no count such as 64 and no shape such as 4x4x4, of 1 to {} nodes", nodes, most_nodes));
        }
        topology.shape.push_back(*extent);
    }
    topology.kind = topology.shape.size() > 1 ? TopologyKind::torus : TopologyKind::tree;
    return topology;
}

std::vector<RoundLoad> loads_of(std::vector<Round> const& rounds, Topology const& topology) {
    auto const ranks = static_cast<std::size_t>(topology.ranks());
    auto const nodes = static_cast<std::size_t>(topology.nodes());
    bool const torus = topology.kind == TopologyKind::torus;
    TorusLinks links(torus ? topology.shape : std::vector<int>{1});
    std::vector<RoundLoad> loads;
    for (Round const& round : rounds) {
        RoundLoad load;
        load.times = round.times;
        load.reduced = round.reduced;
        load.copied = round.copied;
        std::vector<double> sent(ranks);
        std::vector<double> received(ranks);
        std::vector<double> out(nodes);
        std::vector<double> in(nodes);
        std::vector<double> inside(ranks);
        if (torus) {
            links.clear();
        }
        for (Message const& message : round.messages) {
            auto const from = static_cast<std::size_t>(message.from);
            auto const to = static_cast<std::size_t>(message.to);
            int const from_node = message.from / topology.ranks_per_node;
            int const to_node = message.to / topology.ranks_per_node;
            double const share = message.share * message.count;
            sent[from] += message.count;
            received[to] += message.count;
            load.largest = std::max(load.largest, message.share);
            if (from_node == to_node) {
                inside[from] += share;
                continue;
            }
            out[static_cast<std::size_t>(from_node)] += share;
            in[static_cast<std::size_t>(to_node)] += share;
            if (torus) {
                load.hops =
                    std::max(load.hops, static_cast<double>(links.add(from_node, to_node, share, round.both_ways)));
            } else {
                // No way leads around: the last node is the farthest one from the first.
                double const distance = std::log2(std::abs(from_node - to_node));
                load.hops = std::max(load.hops, 1 + distance);
                load.far += share * distance / static_cast<double>(nodes);
            }
        }
        load.messages = std::max(largest(sent), largest(received));
        load.in = largest(in);
        load.node = std::max(largest(out), load.in);
        load.inside = largest(inside);
        load.link = torus ? links.busiest() : 0;
        loads.push_back(load);
    }
    return loads;
}

}  // namespace dlmb::predict
