// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/measure/clock/common_clock.hpp"

#include "common/bootstrap/over_ranks.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <numeric>
#include <thread>
#include <utility>

namespace dlmb::measure {

Nanoseconds OffsetBracket::error_of(Nanoseconds offset) const {
    return std::max(high - offset, offset - low);
}

void OffsetSearch::add(PingPong const& ping_pong) {
    OffsetBracket const heard{ping_pong.answered - ping_pong.received, ping_pong.answered - ping_pong.sent};
    last_round_trip_ = ping_pong.received - ping_pong.sent;
    elapsed_ += last_round_trip_;
    if (count_++ == 0) {
        bracket_ = heard;
        shortest_round_trip_ = last_round_trip_;
        return;
    }
    shortest_round_trip_ = std::min(shortest_round_trip_, last_round_trip_);
    OffsetBracket const both{std::max(bracket_.low, heard.low), std::min(bracket_.high, heard.high)};
    if (both.low <= both.high) {
        bracket_ = both;
    } else if (heard.high - heard.low < bracket_.high - bracket_.low) {
        bracket_ = heard;
    }
}

bool OffsetSearch::done() const {
    // In integers: last < 1.1 * shortest. Equal zeros, as of a coarse clock, count as well.
    bool const typical = 10 * last_round_trip_ < 11 * shortest_round_trip_ || last_round_trip_ == 0;
    return count_ >= most || (count_ >= least && (typical || elapsed_ >= longest_ns));
}

Nanoseconds ClockLine::correct(MeasuredOffset const& measured) {
    constexpr std::size_t points_kept = 64;  // older ones say little about now: temperature moves the drift
    auto const& [local_ns, bracket] = measured;
    Nanoseconds const was_wrong = bracket.error_of(at(local_ns) - local_ns);
    points_.push_back({local_ns, std::midpoint(bracket.low, bracket.high)});
    if (points_.size() > points_kept) {
        points_.pop_front();
    }
    fit();
    line_.anchor_offset_ns = std::clamp(at(local_ns) - local_ns, bracket.low, bracket.high);
    line_.anchor_local_ns = local_ns;
    line_.error_ns = bracket.error_of(line_.anchor_offset_ns);
    return was_wrong;
}

// Least squares around the means, in numbers small enough for a double: offsets between hosts are days.
void ClockLine::fit() {
    ClockPoint const& first = points_.front();
    if (points_.size() < rule_.points || points_.back().local_ns - first.local_ns < rule_.spread_ns) {
        line_.anchor_local_ns = points_.back().local_ns;
        line_.anchor_offset_ns = points_.back().offset_ns;
        return;
    }
    auto const n = static_cast<double>(points_.size());
    double mean_x = 0;
    double mean_y = 0;
    for (ClockPoint const& point : points_) {
        mean_x += static_cast<double>(point.local_ns - first.local_ns) / n;
        mean_y += static_cast<double>(point.offset_ns - first.offset_ns) / n;
    }
    double xx = 0;
    double xy = 0;
    for (ClockPoint const& point : points_) {
        double const x = static_cast<double>(point.local_ns - first.local_ns) - mean_x;
        xx += x * x;
        xy += x * (static_cast<double>(point.offset_ns - first.offset_ns) - mean_y);
    }
    line_.slope = xx > 0 ? xy / xx : 0;
    line_.anchor_local_ns = first.local_ns + std::llround(mean_x);
    line_.anchor_offset_ns = first.offset_ns + std::llround(mean_y);
}

Nanoseconds ClockLine::at(Nanoseconds local_ns) const {
    double const drifted = line_.slope * static_cast<double>(local_ns - line_.anchor_local_ns);
    return local_ns + line_.anchor_offset_ns + std::llround(drifted);
}

namespace {

enum Word : std::int64_t { enough = 0, ping = 1 };

}  // namespace

CommonClock::CommonClock(Bootstrap& bootstrap, ClockOptions options)
    : bootstrap_(bootstrap), options_(std::move(options)), line_(options_.drift), leader_(bootstrap.node_leader()) {
    find_tree();
    compare_on_node();
    if (!any_rank(bootstrap_, nodes_ > 1 || own_clock_)) {
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
    std::vector<Rank> const leader_of = from_every_rank(bootstrap_, leader_);
    for (Rank rank = 0; rank < bootstrap_.size(); ++rank) {
        Rank const leader = leader_of[static_cast<std::size_t>(rank)];
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

// The reference answers with its common time, so offsets add along the path; its error comes last.
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

Nanoseconds CommonClock::receive_line(Rank leader) {
    Nanoseconds const local = options_.shows(now_ns());
    Nanoseconds const before = line_.at(local);
    ClockLine::DriftLine line;
    bootstrap_.receive(leader, std::as_writable_bytes(std::span(&line, 1)));
    line_.adopt(line);
    return std::abs(line_.at(local) - before) + line_.error_ns();
}

Nanoseconds CommonClock::check() {
    if (leader_ != bootstrap_.rank()) {
        return own_clock_ ? follow(leader_) : nodes_ > 1 ? receive_line(leader_) : 0;
    }
    Nanoseconds const was_wrong = reference_ >= 0 ? follow(reference_) : 0;
    for (Rank const client : clients_) {
        answer(client);
    }
    for (PeerRank const& peer : peers_) {
        if (peer.own_clock) {
            answer(peer.rank);
        } else if (nodes_ > 1) {
            bootstrap_.send(peer.rank, std::as_bytes(std::span(&line_.line(), 1)));
        }
    }
    return was_wrong;
}

}  // namespace dlmb::measure
