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
constexpr int fewest_block_trips = 2;  // the first one opens windows
constexpr int most_trips = 16;
constexpr std::byte more{1};
constexpr std::byte over{0};

/// There and back; the first byte says whether another one follows.
Nanoseconds least_round_trip(Bootstrap& bootstrap, Rank peer, std::span<std::byte> bytes, int fewest) {
    Nanoseconds least = std::numeric_limits<Nanoseconds>::max();
    Nanoseconds const end = now_ns() + link_turn_ns / 2;
    for (int trip = 1; trip <= most_trips; ++trip) {
        bool const last = trip == most_trips || (trip >= fewest && now_ns() >= end);
        bytes.front() = last ? over : more;
        Nanoseconds const start = now_ns();
        bootstrap.send(peer, bytes);
        bootstrap.receive(peer, bytes);
        least = std::min(least, now_ns() - start);
        if (last) {
            break;
        }
    }
    return least;
}

void answer_round_trips(Bootstrap& bootstrap, Rank peer, std::span<std::byte> bytes) {
    do {
        bootstrap.receive(peer, bytes);
        bootstrap.send(peer, bytes);
    } while (bytes.front() == more);
}

}  // namespace

std::optional<LinkFloor> calibrate_links(Bootstrap& bootstrap, std::size_t most_nodes, Watchdog& watchdog) {
    auto const [leaders, mine] = find_nodes(bootstrap);
    std::size_t const nodes = leaders.size();
    if (nodes < 3 || nodes > most_nodes) {
        return std::nullopt;
    }
    std::vector<Nanoseconds> round_trips(nodes * nodes, 0);
    std::vector<Nanoseconds> transfers(nodes * nodes, 0);
    if (bootstrap.rank() == bootstrap.node_leader()) {
        Blob block(link_block_bytes, more);
        std::span<std::byte> const word(block.data(), sizeof(std::int64_t));
        // Nodes whose numbers add up to the turn meet in it: every two once, no node with two others at a time.
        for (std::size_t turn = 0; turn < nodes; ++turn) {
            std::size_t const peer = (turn + nodes - mine) % nodes;
            if (mine < peer) {
                std::size_t const link = mine * nodes + peer;
                round_trips[link] = least_round_trip(bootstrap, leaders[peer], word, fewest_trips);
                Nanoseconds const both = least_round_trip(bootstrap, leaders[peer], block, fewest_block_trips);
                transfers[link] = std::max<Nanoseconds>(0, both - round_trips[link]);
            } else if (peer < mine) {
                answer_round_trips(bootstrap, leaders[peer], word);
                answer_round_trips(bootstrap, leaders[peer], block);
            }
            watchdog.touch();
        }
    }
    bootstrap.all_reduce(round_trips, Fold::max);
    bootstrap.all_reduce(transfers, Fold::max);
    return LinkFloor{nodes * (nodes - 1) / 2, link_times(leaders, round_trips, slow_round_trip_ratio),
                     link_times(leaders, transfers, slow_transfer_ratio)};
}

LinkFloor::Times link_times(std::span<Rank const> leaders, std::span<Nanoseconds const> ns, double slow_ratio) {
    std::size_t const nodes = leaders.size();
    std::vector<LinkFloor::Link> links;
    std::vector<Nanoseconds> values;
    for (std::size_t one = 0; one < nodes; ++one) {
        for (std::size_t other = one + 1; other < nodes; ++other) {
            values.push_back(ns[one * nodes + other]);
            links.push_back({{leaders[one], leaders[other]}, static_cast<double>(values.back())});
        }
    }
    LinkFloor::Times times{median(values), {}};
    std::sort(links.begin(), links.end(), [](auto const& a, auto const& b) { return a.ns > b.ns; });
    for (LinkFloor::Link const& link : links) {
        bool const too_busy_to_tell = times.median_ns <= 0;
        if (too_busy_to_tell || link.ns <= slow_ratio * times.median_ns || times.slow.size() == slow_links_named) {
            break;
        }
        times.slow.push_back(link);
    }
    return times;
}

}  // namespace dlmb::measure
