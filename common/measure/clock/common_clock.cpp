// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/measure/clock/common_clock.hpp"

#include "common/bootstrap/over_ranks.hpp"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <numeric>
#include <thread>
#include <utility>

namespace dlmb::measure {
namespace {

enum Word : std::int64_t { enough = 0, ping = 1 };

}  // namespace

CommonClock::CommonClock(Bootstrap& bootstrap, ClockOptions options)
    : bootstrap_(bootstrap), options_(std::move(options)), line_(options_.drift), leader_(bootstrap.node_leader()) {
    find_tree();
    compare_on_node();
    bool const one_clock = reduce_over_ranks(bootstrap_, nodes_ > 1 || own_clock_ ? 1 : 0, Fold::max) == 0;
    if (one_clock) {
        return;
    }
    auto const points = static_cast<std::int64_t>(options_.drift.points);
    std::chrono::nanoseconds const pause(options_.drift.spread_ns / std::max<std::int64_t>(1, points - 1) + 1);
    auto next = std::chrono::steady_clock::now();
    for (std::int64_t point = 0; point < points; ++point, next += pause) {
        std::this_thread::sleep_until(next);
        (void)check();
    }
}

void CommonClock::find_tree() {
    std::vector<Rank> leaders;
    std::vector<Blob> const blobs = bootstrap_.all_gather(std::as_bytes(std::span(&leader_, 1)));
    for (Rank rank = 0; rank < bootstrap_.size(); ++rank) {
        Rank leader = 0;
        std::memcpy(&leader, blobs[static_cast<std::size_t>(rank)].data(), sizeof leader);
        if (leader == rank) {
            leaders.push_back(rank);
        } else if (leader == bootstrap_.rank()) {
            peers_.push_back({rank});
        }
    }
    nodes_ = leaders.size();
    // Level k: the first 2^k leaders know the time and answer the next 2^k.
    for (std::size_t level = 1; level < nodes_; level *= 2) {
        for (std::size_t index = 0; index < level && index + level < nodes_; ++index) {
            if (leaders[index] == bootstrap_.rank()) {
                clients_.push_back(leaders[index + level]);
            } else if (leaders[index + level] == bootstrap_.rank()) {
                reference_ = leaders[index];
            }
        }
    }
}

// An offset of zero that a few ping-pongs do not refute is taken as one clock: that is what the system promises.
void CommonClock::compare_on_node() {
    for (PeerRank& peer : peers_) {
        answer(peer.rank);
        peer.own_clock = bootstrap_.receive_word(peer.rank) != 0;
    }
    if (leader_ != bootstrap_.rank()) {
        own_clock_ = !measure(leader_).bracket.contains(0);
        (void)bootstrap_.receive_word(leader_);
        bootstrap_.send_word(leader_, own_clock_ ? 1 : 0);
    }
}

// On the client's idea of the common time, so that a drift that is known does not move the brackets apart.
MeasuredOffset CommonClock::measure(Rank reference) {
    Nanoseconds const begin = options_.shows(now_ns());
    OffsetSearch search;
    while (!search.done()) {
        PingPong ping_pong;
        ping_pong.sent = now();
        bootstrap_.send_word(reference, ping);
        ping_pong.answered = bootstrap_.receive_word(reference);
        ping_pong.received = now();
        search.add(ping_pong);
    }
    bootstrap_.send_word(reference, enough);
    Nanoseconds const middle = std::midpoint(begin, options_.shows(now_ns()));
    Nanoseconds const known = line_.at(middle) - middle;
    return {middle, {known + search.bracket().low, known + search.bracket().high}};
}

// What the reference knows to be the common time is what it answers, so offsets add along the path; its error is last.
void CommonClock::answer(Rank client) {
    while (bootstrap_.receive_word(client) == ping) {
        bootstrap_.send_word(client, now());
    }
    bootstrap_.send_word(client, error_ns());
}

Nanoseconds CommonClock::follow(Rank reference) {
    MeasuredOffset measured = measure(reference);
    Nanoseconds const path_error = bootstrap_.receive_word(reference);
    measured.bracket.low -= path_error;
    measured.bracket.high += path_error;
    return line_.correct(measured);
}

void CommonClock::tell_line(Rank peer) {
    ClockLine::Words const words = line_.words();
    for (std::int64_t const word : {words.anchor_local_ns, words.anchor_offset_ns, words.slope_1e15, words.error_ns}) {
        bootstrap_.send_word(peer, word);
    }
}

Nanoseconds CommonClock::hear_line(Rank leader) {
    Nanoseconds const local = options_.shows(now_ns());
    Nanoseconds const before = line_.at(local);
    ClockLine::Words words{};
    for (std::int64_t* const word :
         {&words.anchor_local_ns, &words.anchor_offset_ns, &words.slope_1e15, &words.error_ns}) {
        *word = bootstrap_.receive_word(leader);
    }
    line_.adopt(words);
    return std::abs(line_.at(local) - before) + line_.error_ns();
}

Nanoseconds CommonClock::check() {
    Nanoseconds was_wrong = 0;
    if (leader_ != bootstrap_.rank()) {
        if (own_clock_) {
            was_wrong = follow(leader_);
        } else if (nodes_ > 1) {
            was_wrong = hear_line(leader_);
        }
        return was_wrong;
    }
    if (reference_ >= 0) {
        was_wrong = follow(reference_);
    }
    for (Rank const client : clients_) {
        answer(client);
    }
    for (PeerRank const& peer : peers_) {
        if (peer.own_clock) {
            answer(peer.rank);
        } else if (nodes_ > 1) {
            tell_line(peer.rank);
        }
    }
    return was_wrong;
}

}  // namespace dlmb::measure
