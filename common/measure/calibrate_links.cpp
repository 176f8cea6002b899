// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/base/clock.hpp"
#include "common/measure/calibrate.hpp"
#include "common/measure/nodes.hpp"
#include "common/measure/statistics.hpp"

#include <algorithm>
#include <limits>

namespace dlmb::measure {
namespace {

constexpr int fewest_trips = 4;
constexpr int most_trips = 16;
constexpr std::int64_t more = 1;
constexpr std::int64_t over = 0;

Nanoseconds least_round_trip(Bootstrap& bootstrap, Rank peer) {
    Nanoseconds least = std::numeric_limits<Nanoseconds>::max();
    Nanoseconds const end = now_ns() + link_turn_ns;
    for (int trip = 1; trip <= most_trips; ++trip) {
        bool const last = trip == most_trips || (trip >= fewest_trips && now_ns() >= end);
        Nanoseconds const start = now_ns();
        bootstrap.send_word(peer, last ? over : more);
        (void)bootstrap.receive_word(peer);
        least = std::min(least, now_ns() - start);
        if (last) {
            break;
        }
    }
    return least;
}

void answer_round_trips(Bootstrap& bootstrap, Rank peer) {
    std::int64_t word = more;
    while (word == more) {
        word = bootstrap.receive_word(peer);
        bootstrap.send_word(peer, word);
    }
}

}  // namespace

std::optional<LinkFloor> calibrate_links(Bootstrap& bootstrap, std::size_t most_nodes) {
    auto const [leaders, mine] = find_nodes(bootstrap);
    std::size_t const nodes = leaders.size();
    if (nodes < 3 || nodes > most_nodes) {
        return std::nullopt;
    }
    std::vector<Nanoseconds> round_trips(nodes * nodes, 0);
    if (bootstrap.rank() == bootstrap.node_leader()) {
        // Nodes whose numbers add up to the turn meet in it: every two once, no node with two others at a time.
        for (std::size_t turn = 0; turn < nodes; ++turn) {
            std::size_t const peer = (turn + nodes - mine) % nodes;
            if (mine < peer) {
                round_trips[mine * nodes + peer] = least_round_trip(bootstrap, leaders[peer]);
            } else if (peer < mine) {
                answer_round_trips(bootstrap, leaders[peer]);
            }
        }
    }
    bootstrap.all_reduce(round_trips, Fold::max);
    return link_floor(leaders, round_trips);
}

LinkFloor link_floor(std::span<Rank const> leaders, std::span<Nanoseconds const> round_trips_ns) {
    std::size_t const nodes = leaders.size();
    std::vector<LinkFloor::Link> links;
    std::vector<Nanoseconds> times;
    for (std::size_t one = 0; one < nodes; ++one) {
        for (std::size_t other = one + 1; other < nodes; ++other) {
            times.push_back(round_trips_ns[one * nodes + other]);
            links.push_back({{leaders[one], leaders[other]}, static_cast<double>(times.back())});
        }
    }
    LinkFloor floor{links.size(), median(times), {}};
    std::sort(links.begin(), links.end(),
              [](auto const& a, auto const& b) { return a.round_trip_ns > b.round_trip_ns; });
    for (LinkFloor::Link const& link : links) {
        if (link.round_trip_ns <= slow_link_ratio * floor.median_ns || floor.slow.size() == slow_links_named) {
            break;
        }
        floor.slow.push_back(link);
    }
    return floor;
}

}  // namespace dlmb::measure
