// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Barriers of the launch and links between its nodes.
#include "common/base/clock.hpp"
#include "common/base/statistics/order_statistics.hpp"
#include "common/bootstrap/over_ranks.hpp"
#include "common/measure/calibration/calibration.hpp"

#include <algorithm>
#include <limits>

namespace dlmb::measure {
namespace {

struct Nodes {
    std::vector<Rank> leaders;  // the first rank of each node, ascending
    std::size_t mine = 0;       // this rank's node among them
};

/// Collective.
Nodes find_nodes(Bootstrap& bootstrap) {
    std::vector<Rank> leaders = from_every_rank(bootstrap, bootstrap.node_leader());
    std::sort(leaders.begin(), leaders.end());
    leaders.erase(std::unique(leaders.begin(), leaders.end()), leaders.end());
    auto const found = std::find(leaders.begin(), leaders.end(), bootstrap.node_leader());
    auto const mine = static_cast<std::size_t>(found - leaders.begin());
    return {std::move(leaders), mine};
}

constexpr std::size_t batch_barriers = 5;
constexpr std::size_t most_barriers = 1000;
constexpr std::size_t most_numbers = 200'000;  // in one reduction: two per node and barrier
constexpr Nanoseconds nothing = std::numeric_limits<Nanoseconds>::min();

/// When this rank left each barrier; the first of them starts the count. Rank 0 says when it is enough.
std::vector<Nanoseconds> leave_barriers(Bootstrap& bootstrap, std::size_t most, Nanoseconds limit_ns) {
    std::vector<Nanoseconds> exits;
    exits.reserve(most + batch_barriers);
    Nanoseconds const end = now_ns() + limit_ns;
    do {
        for (std::size_t i = 0; i < batch_barriers; ++i) {
            bootstrap.barrier();
            exits.push_back(now_ns());
        }
    } while (from_rank(bootstrap, exits.size() < most && now_ns() < end));
    return exits;
}

/// Durations of each barrier but the first of a batch, before which ranks agree whether to go on.
std::vector<Nanoseconds> durations_of(std::vector<Nanoseconds> const& exits) {
    std::vector<Nanoseconds> durations;
    for (std::size_t i = 1; i < exits.size(); ++i) {
        if (i % batch_barriers != 0) {
            durations.push_back(exits[i] - exits[i - 1]);
        }
    }
    return durations;
}

/// Collective. Last minus first exit of each barrier, largest over nodes.
std::vector<Nanoseconds> exit_skews(Bootstrap& bootstrap, Nodes const& nodes, std::vector<Nanoseconds> const& exits) {
    std::size_t const per_node = 2 * exits.size();  // latest, and the negative of the earliest: both are maxima
    std::vector<Nanoseconds> ends(nodes.leaders.size() * per_node, nothing);
    for (std::size_t i = 0; i < exits.size(); ++i) {
        ends[nodes.mine * per_node + 2 * i] = exits[i];
        ends[nodes.mine * per_node + 2 * i + 1] = -exits[i];
    }
    bootstrap.all_reduce(ends, Fold::max);
    std::vector<Nanoseconds> skews(exits.size(), 0);
    for (std::size_t node = 0; node < nodes.leaders.size(); ++node) {
        for (std::size_t i = 0; i < exits.size(); ++i) {
            std::size_t const at = node * per_node + 2 * i;
            skews[i] = std::max(skews[i], ends[at] + ends[at + 1]);
        }
    }
    return skews;
}

}  // namespace

record::BarrierFloor calibrate_barrier(Bootstrap& bootstrap, Nanoseconds limit_ns) {
    Nodes const nodes = find_nodes(bootstrap);
    std::size_t const most = std::clamp(most_numbers / (2 * nodes.leaders.size()), batch_barriers, most_barriers);
    std::vector<Nanoseconds> const exits = leave_barriers(bootstrap, most, limit_ns);
    std::vector<Nanoseconds> durations = durations_of(exits);
    bootstrap.all_reduce(durations, Fold::max);
    record::BarrierFloor floor{exits.size(), statistics::median(durations), std::nullopt};
    if (nodes.leaders.size() < static_cast<std::size_t>(bootstrap.size())) {  // two ranks on one of them
        std::vector<Nanoseconds> skews = exit_skews(bootstrap, nodes, exits);
        std::sort(skews.begin(), skews.end());
        floor.exit_skew = {static_cast<double>(statistics::nearest_rank(skews, 50)),
                           static_cast<double>(statistics::nearest_rank(skews, 99))};
    }
    return floor;
}

namespace {

constexpr int fewest_trips = 4;
constexpr int fewest_block_trips = 2;  // the first one opens windows
constexpr int most_trips = 16;
constexpr std::byte go_on{1};
constexpr std::byte over{0};

/// There and back; the first byte says whether another one follows.
Nanoseconds least_round_trip(Bootstrap& bootstrap, Rank peer, std::span<std::byte> bytes, int fewest) {
    Nanoseconds least = std::numeric_limits<Nanoseconds>::max();
    Nanoseconds const end = now_ns() + link_turn_ns / 2;
    for (int trip = 1; trip <= most_trips; ++trip) {
        bool const last = trip == most_trips || (trip >= fewest && now_ns() >= end);
        bytes.front() = last ? over : go_on;
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
    } while (bytes.front() == go_on);
}

}  // namespace

std::optional<record::LinkFloor> calibrate_links(Bootstrap& bootstrap, std::size_t most_nodes, Watchdog& watchdog) {
    auto const [leaders, mine] = find_nodes(bootstrap);
    std::size_t const nodes = leaders.size();
    if (nodes < 3 || nodes > most_nodes) {
        return std::nullopt;
    }
    std::vector<Nanoseconds> round_trips(nodes * nodes, 0);
    std::vector<Nanoseconds> transfers(nodes * nodes, 0);
    if (bootstrap.rank() == bootstrap.node_leader()) {
        Blob block(record::link_block_bytes, go_on);
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
    return record::LinkFloor{nodes * (nodes - 1) / 2, link_times(leaders, round_trips, record::slow_round_trip_ratio),
                             link_times(leaders, transfers, record::slow_transfer_ratio)};
}

record::LinkFloor::Times link_times(std::span<Rank const> leaders, std::span<Nanoseconds const> ns, double slow_ratio) {
    std::size_t const nodes = leaders.size();
    std::vector<record::LinkFloor::Link> links;
    std::vector<Nanoseconds> values;
    for (std::size_t one = 0; one < nodes; ++one) {
        for (std::size_t other = one + 1; other < nodes; ++other) {
            values.push_back(ns[one * nodes + other]);
            links.push_back({{leaders[one], leaders[other]}, static_cast<double>(values.back())});
        }
    }
    record::LinkFloor::Times times{statistics::median(values), {}};
    std::sort(links.begin(), links.end(), [](auto const& a, auto const& b) { return a.ns > b.ns; });
    for (record::LinkFloor::Link const& link : links) {
        bool const too_busy_to_tell = times.median_ns <= 0;
        if (too_busy_to_tell || link.ns <= slow_ratio * times.median_ns ||
            times.slow.size() == record::slow_links_named) {
            break;
        }
        times.slow.push_back(link);
    }
    return times;
}

}  // namespace dlmb::measure
