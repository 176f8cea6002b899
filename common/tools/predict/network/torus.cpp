// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/tools/predict/network/torus.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <functional>
#include <numeric>

namespace dlmb::predict {

namespace {

/// The lengths into which an extent is cut, the slowest first.
std::vector<int> lengths_of(int extent, double ring) {
    std::vector<int> lengths;
    auto const distance = [ring](int length) { return std::abs(std::log(length / ring)); };
    while (extent > std::sqrt(2) * ring) {
        int nearest = extent;
        for (int length = 2; 2 * length <= extent; ++length) {
            nearest = extent % length == 0 && distance(length) < distance(nearest) ? length : nearest;
        }
        if (nearest == extent) {
            break;
        }
        lengths.push_back(nearest);
        extent /= nearest;
    }
    lengths.push_back(extent);
    return lengths;
}

/// Back and forth: every second row is gone backwards.
int laid(int at, std::vector<int> const& lengths) {
    int rest = std::accumulate(lengths.begin(), lengths.end(), 1, std::multiplies<>());
    int place = 0;
    for (int const length : lengths) {
        rest /= length;
        int const row = at / rest;
        place = place * length + row;
        at = row % 2 == 0 ? at % rest : rest - 1 - at % rest;
    }
    return place;
}

class Torus : public Interconnect {
public:
    explicit Torus(Topology const& topology)
        : Interconnect(topology, TorusSteps(topology.shape).links()), steps_(topology.shape),
          ports_(ports_of(topology.shape)) {}

protected:
    [[nodiscard]] double inner_capacity(LinkId link) const override {
        std::size_t const dimensions = steps_.shape().size();
        std::size_t const dimension = link / 2 % dimensions;
        int const extent = steps_.shape()[dimension];
        int const at = steps_.coordinate(static_cast<int>(link / 2 / dimensions), dimension);
        bool const up = link % 2 == 1;
        bool const exists = extent > 2 || (extent == 2 && up == (at == 0));
        return exists ? 1.0 / ports_ : 0;
    }
    [[nodiscard]] std::string inner_name(LinkId link) const override {
        auto const dimensions = static_cast<LinkId>(steps_.shape().size());
        int const node = static_cast<int>(link / 2 / dimensions);
        std::vector<int> at;
        for (std::size_t dimension = 0; dimension < dimensions; ++dimension) {
            at.push_back(steps_.coordinate(node, dimension));
        }
        return fmt::format("node {} ({}) {} in dimension {}", node, fmt::join(at, ","), link % 2 == 1 ? "up" : "down",
                           link / 2 % dimensions);
    }
    void add_inner(int from, int to, std::vector<LinkId>& route) const override {
        steps_.each(from, to, HalfRing::alternate, [&](LinkId link) { route.push_back(link); });
    }
    [[nodiscard]] int representative_of(int node) const override {
        // Translations carry routes into routes; where half a ring is a way, which alternates, only those by an even
        // distance.
        int found = 0;
        for (std::size_t dimension = 0; dimension < steps_.shape().size(); ++dimension) {
            int const extent = steps_.shape()[dimension];
            found = found * extent + (extent % 2 == 0 ? steps_.coordinate(node, dimension) % 2 : 0);
        }
        return found;
    }
    [[nodiscard]] LinkId inner_class(LinkId link) const override {
        auto const per_node = static_cast<LinkId>(2 * steps_.shape().size());
        return static_cast<LinkId>(representative_of(static_cast<int>(link / per_node))) * per_node + link % per_node;
    }

private:
    TorusSteps steps_;
    int ports_;  // of a node
};

}  // namespace

int ports_of(std::vector<int> const& shape) {
    return std::accumulate(shape.begin(), shape.end(), 0,
                           [](int ports, int extent) { return ports + std::min(extent - 1, 2); });
}

TorusSteps::TorusSteps(std::vector<int> shape) : shape_(std::move(shape)), strides_(shape_.size()) {
    int stride = 1;
    for (std::size_t at = shape_.size(); at-- > 0;) {
        strides_[at] = stride;
        stride *= shape_[at];
    }
    links_ = static_cast<LinkId>(2 * shape_.size() * static_cast<std::size_t>(stride));
}

bool is_folded(Topology const& topology) {
    return topology.kind == TopologyKind::torus && fold_of(topology).shape != topology.shape;
}

TorusFold fold_of(Topology const& topology) {
    int const nodes = topology.nodes();
    TorusFold fold{topology.shape, std::vector<int>(static_cast<std::size_t>(nodes))};
    std::iota(fold.place.begin(), fold.place.end(), 0);
    if (wide_dimensions_of(topology.shape) >= topology.machine_dimensions) {
        return fold;
    }
    double const ring = std::pow(nodes, 1.0 / topology.machine_dimensions);
    std::vector<std::vector<int>> lengths;
    fold.shape.clear();
    for (int const extent : topology.shape) {
        lengths.push_back(lengths_of(extent, ring));
        fold.shape.insert(fold.shape.end(), lengths.back().begin(), lengths.back().end());
    }
    TorusSteps const job(topology.shape);
    for (int node = 0; node < nodes; ++node) {
        int place = 0;
        for (std::size_t dimension = 0; dimension < topology.shape.size(); ++dimension) {
            place = place * topology.shape[dimension] + laid(job.coordinate(node, dimension), lengths[dimension]);
        }
        fold.place[static_cast<std::size_t>(node)] = place;
    }
    return fold;
}

std::unique_ptr<Interconnect> torus_of(Topology const& topology) {
    return std::make_unique<Torus>(topology);
}

}  // namespace dlmb::predict
