// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/tools/predict/round_loads.hpp"

#include "common/tools/predict/network/torus.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace dlmb::predict {
namespace {

double largest(std::vector<double> const& values) {
    return *std::max_element(values.begin(), values.end());
}

}  // namespace

std::vector<RoundLoad> loads_of(std::vector<Round> const& rounds, Topology const& topology) {
    auto const ranks = static_cast<std::size_t>(topology.ranks());
    auto const nodes = static_cast<std::size_t>(topology.nodes());
    bool const torus = topology.kind == TopologyKind::torus;
    TorusFold const fold = torus ? fold_of(topology) : TorusFold{{1}, {}};
    TorusSteps const steps(fold.shape);
    std::vector<double> links(steps.links());
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
            std::fill(links.begin(), links.end(), 0.0);
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
                inside[to] += share;
                continue;
            }
            out[static_cast<std::size_t>(from_node)] += share;
            in[static_cast<std::size_t>(to_node)] += share;
            if (torus) {
                int const hops = steps.each(fold.place[static_cast<std::size_t>(from_node)],
                                            fold.place[static_cast<std::size_t>(to_node)],
                                            round.both_ways ? HalfRing::alternate : HalfRing::upwards,
                                            [&](LinkId link) { links[link] += share; });
                load.hops = std::max(load.hops, static_cast<double>(hops));
            } else {
                // No way leads around: the last node is the farthest one from the first.
                double const distance = std::log2(std::abs(from_node - to_node));
                load.hops = std::max(load.hops, 1 + distance);
                load.far += share * distance / static_cast<double>(nodes);
            }
        }
        load.messages = std::max(largest(sent), largest(received));
        load.messages = round.queued > 0 ? std::min(round.queued, load.messages) : load.messages;
        load.in = largest(in);
        load.node = std::max(largest(out), load.in);
        load.inside = largest(inside);
        load.link = torus ? largest(links) : 0;
        loads.push_back(load);
    }
    return loads;
}

}  // namespace dlmb::predict
