// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Messages that share links: rates that are max-min fair, times of small cases by hand, the shares of HammingMesh by
// events, and the bound that no run goes below.
#include "common/base/error.hpp"
#include "common/base/philox.hpp"
#include "common/tools/predict/network/link_network.hpp"
#include "tests/unit/prediction_network/loads_of.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace dlmb::predict {
namespace {

/// 1 byte per ps and node; ranks on nodes in order.
LinkNetwork network_of(Interconnect const& net) {
    return {net, nodes_of_ranks(net, Placement::row_major, net.nodes(), 1, 0), {1, 1000}};
}

/// A message between two ranks that begins at a given time.
struct StartedMessage {
    Rank from = 0;
    Rank to = 0;
    Bytes bytes = 0;
    Picoseconds start = 0;
};

/// When each of them ends, without latency.
std::vector<Picoseconds> ends_of(LinkNetwork& network, std::vector<StartedMessage> const& messages) {
    std::vector<std::size_t> order(messages.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return messages[a].start < messages[b].start; });
    std::vector<Picoseconds> ends(messages.size());
    std::size_t next = 0;
    while (true) {
        Picoseconds const start = next < order.size() ? messages[order[next]].start : never;
        Picoseconds const event = network.next_event();
        if (start == never && event == never) {
            return ends;
        }
        if (event <= start) {
            while (auto const flow = network.end_next(event)) {
                ends[*flow] = event;
            }
            continue;
        }
        for (; next < order.size() && messages[order[next]].start == start; ++next) {
            StartedMessage const& message = messages[order[next]];
            network.start(static_cast<FlowId>(order[next]), message.from, message.to, message.bytes, start);
        }
    }
}

std::vector<StartedMessage> all_to_all(int ranks, Bytes bytes) {
    std::vector<StartedMessage> messages;
    for (Rank from = 0; from < ranks; ++from) {
        for (Rank to = 0; to < ranks; ++to) {
            if (from != to) {
                messages.push_back({from, to, bytes, 0});
            }
        }
    }
    return messages;
}

/// So many between any two nodes, which start within 300,000 ps.
void add_random(std::vector<StartedMessage>& messages, int count, int nodes, std::uint32_t most,
                RandomSequence random) {
    auto const others = static_cast<std::uint32_t>(nodes - 1);
    for (; count > 0; --count) {
        std::uint32_t const from = below(random.next(), others + 1);
        std::uint32_t const to = (from + 1 + below(random.next(), others)) % (others + 1);
        messages.push_back({static_cast<Rank>(from), static_cast<Rank>(to), 1 + below(random.next(), most),
                            below(random.next(), 300'000)});
    }
}

/// Progressive filling as the textbook has it.
std::vector<double> rates_by_definition(std::vector<double> left, std::vector<std::vector<LinkId>> const& routes) {
    std::vector<double> rates(routes.size(), -1);
    for (std::size_t frozen = 0; frozen < routes.size();) {
        std::vector<double> weights(left.size());
        for (std::size_t flow = 0; flow < routes.size(); ++flow) {
            for (LinkId const link : routes[flow]) {
                weights[link] += rates[flow] < 0 ? 1 : 0;
            }
        }
        std::size_t first = 0;
        for (std::size_t link = 0; link < left.size(); ++link) {
            bool const lower =
                weights[link] > 0 && (weights[first] <= 0 || left[link] / weights[link] < left[first] / weights[first]);
            first = lower ? link : first;
        }
        double const rate = left[first] / weights[first];
        for (std::size_t flow = 0; flow < routes.size(); ++flow) {
            auto const& route = routes[flow];
            if (rates[flow] < 0 && std::find(route.begin(), route.end(), first) != route.end()) {
                rates[flow] = rate;
                ++frozen;
                for (LinkId const link : route) {
                    left[link] -= rate;
                }
            }
        }
    }
    return rates;
}

/// All rates anew at each start and end.
std::vector<Picoseconds> ends_by_definition(Interconnect const& net, std::vector<StartedMessage> const& messages) {
    std::vector<int> const nodes = nodes_of_ranks(net, Placement::row_major, net.nodes(), 1, 0);
    std::vector<double> capacities;
    for (LinkId link = 0; link < net.links(); ++link) {
        capacities.push_back(net.capacity(link));
    }
    std::vector<Picoseconds> ends(messages.size(), -1);
    std::vector<double> left;
    for (StartedMessage const& message : messages) {
        left.push_back(static_cast<double>(message.bytes));
    }
    for (Picoseconds now = 0;;) {
        std::vector<std::size_t> flows;
        std::vector<std::vector<LinkId>> routes;
        Picoseconds next = never;
        for (std::size_t at = 0; at < messages.size(); ++at) {
            if (ends[at] < 0 && messages[at].start <= now) {
                flows.push_back(at);
                net.route(nodes[static_cast<std::size_t>(messages[at].from)],
                          nodes[static_cast<std::size_t>(messages[at].to)], routes.emplace_back());
            } else if (ends[at] < 0) {
                next = std::min(next, messages[at].start);
            }
        }
        if (flows.empty() && next == never) {
            return ends;
        }
        std::vector<double> const rates = rates_by_definition(capacities, routes);
        std::vector<Picoseconds> takes;
        for (std::size_t index = 0; index < flows.size(); ++index) {
            takes.push_back(std::max<Picoseconds>(1, std::llround(left[flows[index]] / rates[index])));
            next = std::min(next, now + takes.back());
        }
        for (std::size_t index = 0; index < flows.size(); ++index) {
            left[flows[index]] -= rates[index] * static_cast<double>(next - now);
            ends[flows[index]] = now + takes[index] == next ? next : -1;
        }
        now = next;
    }
}

/// Times are rounded to the picosecond at each event: twice half of one apart.
TEST(LinkNetwork, EndsMessagesWhenTheDefinitionOfFairnessSays) {
    for (std::string_view const text :
         {"torus:3x4", "fat-tree:3x3,taper=0.5", "dragonfly:2x2x3", "hamming-mesh:2x1x3"}) {
        auto const net = made(text);
        std::vector<StartedMessage> messages = all_to_all(net->nodes(), 4096);
        add_random(messages, 40, net->nodes(), 100'000, {11, 0, 0, 0});
        LinkNetwork network = network_of(*net);
        auto const ends = ends_of(network, messages);
        auto const expected = ends_by_definition(*net, messages);
        for (std::size_t at = 0; at < messages.size(); ++at) {
            EXPECT_NEAR(static_cast<double>(ends[at]), static_cast<double>(expected[at]), 2) << text << " " << at;
        }
    }
}

TEST(LinkNetwork, GivesAMessageAloneTheWholeLinkAndTwoTheHalf) {
    auto const net = made("fat-tree:4");
    LinkNetwork network = network_of(*net);
    // Both into node 2: alone for 50 ps, then half each until the first ends, then alone again.
    auto const ends = ends_of(network, {{0, 2, 100, 0}, {1, 2, 100, 50}, {1, 0, 1, 1000}});
    EXPECT_EQ(ends, (std::vector<Picoseconds>{150, 200, 1001}));
    EXPECT_EQ(network.loads().bytes(4 + 2), 200) << "into node 2";
}

TEST(LinkNetwork, EndsMessagesOfOneTimeTogetherAndInOrderOfTheirStart) {
    auto const net = made("fat-tree:4");
    LinkNetwork network = network_of(*net);
    network.start(7, 0, 1, 10, 5);
    network.start(3, 2, 3, 10, 5);
    EXPECT_EQ(network.next_event(), 15);
    EXPECT_EQ(network.end_next(15), 7U);
    EXPECT_EQ(network.next_event(), 15);
    EXPECT_EQ(network.end_next(15), 3U);
    EXPECT_EQ(network.end_next(15), std::nullopt);
    EXPECT_EQ(network.next_event(), never);
    EXPECT_EQ(network.updates(), 2U) << "once for both starts, once for both ends";
    EXPECT_THROW(network_of(*net).start(0, 1, 1, 1, 0), Error);
}

TEST(LinkNetwork, TakesTheNumberOfAMessageAgainWhenItIsOver) {
    auto const net = made("fat-tree:4");
    LinkNetwork network = network_of(*net);
    network.start(0, 0, 2, 100, 0);
    EXPECT_EQ(network.next_event(), 100);
    EXPECT_EQ(network.end_next(100), 0U);
    network.start(0, 1, 2, 50, 100);
    network.start(1, 0, 2, 50, 100);
    EXPECT_EQ(network.next_event(), 200) << "half of the link into node 2 each, nothing is left of the first message";
}

TEST(LinkNetwork, AddsLatencyForLinksBeyondThoseOfTheShortestRoute) {
    struct Case {
        std::string_view topology;
        std::vector<std::pair<Rank, int>> links;  // to a rank from rank 0, beyond those of the shortest route
    };
    // The shortest: on a torus out, one between and in; out of a node and into another one where they share a switch.
    for (auto const& [topology, links] : std::vector<Case>{
             {"torus:8x8", {{1, 0}, {4 * 8 + 4, 7}}},
             {"fat-tree:4x4x4", {{1, 0}, {4, 2}, {16, 4}, {63, 4}}},
             {"dragonfly:4x4x4", {{1, 0}, {4, 1}}},
             {"hyperx:4x4x4", {{1, 0}, {4, 1}, {16, 1}, {21, 2}}},
             {"fat-tree:1x4x4", {{1, 0}, {4, 2}}},
             {"hamming-mesh:2x4x4", {{1, 0}, {4, 1}, {23, 3}}},
             {"hamming-mesh:1x2x2,without=0/0", {{1, 2}, {2, 0}}},
         }) {
        auto const net = made(topology);
        LinkNetwork const network = network_of(*net);
        for (auto const& [to, more] : links) {
            EXPECT_EQ(network.extra_latency(0, to), 1000 * more) << topology << ", node " << to;
        }
    }
}

/// All nodes on one link, which counts its routes.
class CountedBus : public Interconnect {
public:
    CountedBus() : Interconnect(parse_topology("fat-tree:4096"), 1) {}
    [[nodiscard]] int routes() const { return routes_; }

protected:
    [[nodiscard]] double inner_capacity(LinkId) const override { return 1; }
    [[nodiscard]] std::string inner_name(LinkId) const override { return "bus"; }
    void add_inner(int, int, std::vector<LinkId>& route) const override {
        ++routes_;
        route.push_back(0);
    }

private:
    mutable int routes_ = 0;
};

TEST(LinkNetwork, LooksForNoShortestRouteWhereHopsCostNothing) {
    CountedBus const bus;
    LinkNetwork const free(bus, {0, 1}, {1, 0});
    EXPECT_EQ(free.extra_latency(0, 1), 0);
    EXPECT_EQ(bus.routes(), 0);
    LinkNetwork const paid(bus, {0, 1}, {1, 1000});
    EXPECT_EQ(paid.extra_latency(0, 1), 0);
    EXPECT_LT(bus.routes(), bus.nodes()) << "routes of a long torus have thousands of links";
}

double share_by_events(std::string_view text) {
    auto const net = made(text);
    LinkNetwork network = network_of(*net);
    constexpr Bytes bytes = 1'000'000;
    auto const ends = ends_of(network, all_to_all(net->nodes(), bytes));
    return static_cast<double>(bytes) * (net->nodes() - 1) /
           static_cast<double>(*std::max_element(ends.begin(), ends.end()));
}

TEST(HammingMeshShares, ComeOutOfEventsAsWell) {
    // 2 a / (4 a^2 f), f = (A - A/x) / (A - 1): 64 nodes on 4 x 4 boards; 2 / n of a torus, but for the pairs (n, n).
    EXPECT_NEAR(share_by_events("hamming-mesh:2x4x4"), 63.0 / (4 * 48), 0.01 * 63 / (4 * 48));
    EXPECT_NEAR(share_by_events("torus:8x8"), 2.0 * 63 / 512, 0.01 * 2 * 63 / 512);
    EXPECT_NEAR(share_by_events("fat-tree:4x16,taper=0.5"), 0.5 * 63 / 60, 0.01 * 0.5 * 63 / 60);
    EXPECT_NEAR(share_by_events("fat-tree:4x16,taper=0.25"), 0.25 * 63 / 60, 0.01 * 0.25 * 63 / 60);
}

TEST(Bound, IsNeverAboveTheTimeByEvents) {
    for (std::string_view const text : {"torus:4x4", "torus:3x5", "fat-tree:4x4,taper=0.5", "dragonfly:2x2x4",
                                        "hyperx:2x3x3", "hamming-mesh:2x2x3", "hamming-mesh:2x3x3,without=1/1"}) {
        auto const net = made(text);
        for (std::uint32_t draw = 0; draw < 20; ++draw) {
            std::vector<StartedMessage> messages;
            add_random(messages, 60, net->nodes(), 1'000'000, {9, draw, 0, 0});
            LinkNetwork network = network_of(*net);
            auto const ends = ends_of(network, messages);
            Bound const bound = bound_of(network.loads(), 0, 1);
            double const last = static_cast<double>(*std::max_element(ends.begin(), ends.end()));
            EXPECT_LE(bound.time_ps(), last + 1) << text << " " << draw;
            EXPECT_GE(bound.time_ps(), 0.2 * last - 300'000) << text << ": a bound that says nothing";
            for (std::size_t at = 0; at < ends.size(); ++at) {
                EXPECT_GE(ends[at] - messages[at].start + 1, static_cast<Picoseconds>(messages[at].bytes));
            }
            LinkNetwork again = network_of(*net);
            EXPECT_EQ(ends_of(again, messages), ends) << "deterministic";
        }
    }
}

TEST(LinkNetwork, ComputesRatesLessOftenWithATolerance) {
    auto const net = made("torus:4x4");
    std::vector<StartedMessage> messages = all_to_all(16, 1'000'000);
    RandomSequence random(3, 0, 0, 0);
    for (StartedMessage& message : messages) {
        message.start = below(random.next(), 1'000'000);
    }
    LinkNetwork exact = network_of(*net);
    LinkNetwork rare(*net, nodes_of_ranks(*net, Placement::row_major, 16, 1, 0), {1, 0, 0.01});
    auto const ends = ends_of(exact, messages);
    auto const later = ends_of(rare, messages);
    EXPECT_LT(2 * rare.updates(), exact.updates());
    for (std::size_t at = 0; at < ends.size(); ++at) {
        auto const took = static_cast<double>(ends[at] - messages[at].start);
        EXPECT_NEAR(static_cast<double>(later[at] - messages[at].start), took, 0.02 * took) << at;
    }
}

TEST(Bound, SaysWhatLimits) {
    auto const net = made("torus:8x8");
    EXPECT_EQ(bound_of(loads_of(*net, {{0, 1, 1000}}), 0, 1).limit(), "links") << "one of four ports";
    EXPECT_EQ(bound_of(loads_of(*net, {{0, 1, 10}, {0, 8, 10}, {0, 7, 10}, {0, 56, 10}}), 0, 1).limit(), "injection");
    EXPECT_EQ(bound_of(loads_of(*net, {{0, 1, 1000}}), 1e6, 1).limit(), "latency");
}

}  // namespace
}  // namespace dlmb::predict
