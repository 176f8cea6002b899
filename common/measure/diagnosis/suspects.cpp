// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/measure/diagnosis/suspects.hpp"

#include "common/measure/statistics/order_statistics.hpp"

#include <algorithm>
#include <iterator>

namespace dlmb::measure {
namespace {

constexpr std::uint64_t samples_for_delay = 5;
constexpr std::uint64_t samples_for_jitter = 20;
constexpr double peer_share = 0.9;   // of a rank's load
constexpr double delay_share = 0.5;  // of a step's time, which has the delay in it
constexpr double times_more = 3;
constexpr double least_charge_ns = 1000;
constexpr double waited_share = 0.8;  // of a delay, by a rank that launched before it was over

using Trait = double RankConduct::*;

/// A way to stand out. `effect`: what it must cause at another rank; nullptr: nothing.
struct Charge {
    Suspect::Kind kind = Suspect::Kind::delayed;
    Trait trait = nullptr;
    Trait load = nullptr;  // what makes it larger
    double excess_ns = 0;
    Trait effect = nullptr;
};

/// The lower of two middle values: of two peers one may be a suspect itself.
double median_of(std::span<RankConduct const> ranks, std::span<std::size_t const> chosen, Trait trait) {
    std::vector<double> values;
    std::transform(chosen.begin(), chosen.end(), std::back_inserter(values),
                   [&](std::size_t rank) { return ranks[rank].*trait; });
    auto const middle = values.begin() + static_cast<std::ptrdiff_t>((values.size() - 1) / 2);
    std::nth_element(values.begin(), middle, values.end());
    return *middle;
}

std::vector<std::size_t> peers_of(std::span<RankConduct const> ranks, std::size_t rank, Trait load) {
    std::vector<std::size_t> peers;
    for (std::size_t other = 0; other < ranks.size(); ++other) {
        if (other != rank && ranks[other].*load >= peer_share * (ranks[rank].*load)) {
            peers.push_back(other);
        }
    }
    return peers;
}

/// Not by all: a neighbour in a ring is enough.
bool felt_by_any(std::span<RankConduct const> ranks, std::size_t cause, Trait effect, double least) {
    for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
        if (rank != cause && ranks[rank].*effect >= least) {
            return true;
        }
    }
    return false;
}

std::vector<Suspect> standing_out(std::span<RankConduct const> ranks, Charge const& charge) {
    std::vector<Suspect> found;
    for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
        double const own = ranks[rank].*charge.trait;
        if (own <= std::max(least_charge_ns, charge.excess_ns)) {
            continue;  // of thousands of ranks nearly all
        }
        std::vector<std::size_t> const peers = peers_of(ranks, rank, charge.load);
        if (peers.empty()) {
            continue;
        }
        double const others = median_of(ranks, peers, charge.trait);
        double const excess = own - others;
        bool const felt = charge.effect == nullptr || felt_by_any(ranks, rank, charge.effect, waited_share * excess);
        if (excess > std::max(least_charge_ns, charge.excess_ns) && own > times_more * others && felt) {
            found.push_back({static_cast<Rank>(rank), charge.kind, own, others});
        }
    }
    return found;
}

/// `others` are added to `found`; of two charges against one rank the heavier is kept.
void merge(std::vector<Suspect>& found, std::vector<Suspect> const& others) {
    for (Suspect const& suspect : others) {
        auto const same =
            std::find_if(found.begin(), found.end(), [&](Suspect const& each) { return each.rank == suspect.rank; });
        if (same == found.end()) {
            found.push_back(suspect);
        } else if (suspect.ns - suspect.others_ns > same->ns - same->others_ns) {
            *same = suspect;
        }
    }
}

}  // namespace

double spread_over_draws(std::span<Nanoseconds const> times, std::size_t draws) {
    std::vector<Nanoseconds> residuals;
    std::vector<Nanoseconds> of_draw;
    for (std::size_t draw = 0; draw < std::min(draws, times.size()); ++draw) {
        of_draw.clear();
        for (std::size_t i = draw; i < times.size(); i += draws) {
            of_draw.push_back(times[i]);
        }
        auto const middle = static_cast<Nanoseconds>(median(of_draw));
        std::transform(of_draw.begin(), of_draw.end(), std::back_inserter(residuals),
                       [&](Nanoseconds time) { return time - middle; });
    }
    std::sort(residuals.begin(), residuals.end());
    return static_cast<double>(nearest_rank(residuals, 95) - nearest_rank(residuals, 5));
}

std::vector<Suspect> find_suspects(std::span<RankConduct const> ranks, double headline_ns, std::uint64_t samples) {
    std::uint64_t steps_in_turn = 1;
    double waited_for = headline_ns;
    bool launches_tell = true;
    for (RankConduct const& rank : ranks) {
        steps_in_turn = std::max(steps_in_turn, rank.steps_in_turn);
        waited_for = std::max({waited_for, rank.posted_ns, rank.posted_spread_ns});
        launches_tell = launches_tell && rank.launch_blocks == 0;
    }
    std::vector<Suspect> found;
    if (launches_tell && samples >= samples_for_delay) {
        found = standing_out(ranks,
                             {Suspect::Kind::delayed, &RankConduct::posted_ns, &RankConduct::posted_bytes,
                              delay_share * headline_ns / static_cast<double>(steps_in_turn), &RankConduct::waited_ns});
    }
    if (launches_tell && samples >= samples_for_jitter) {
        merge(found, standing_out(ranks, {Suspect::Kind::jittery, &RankConduct::posted_spread_ns,
                                          &RankConduct::posted_bytes, headline_ns, &RankConduct::done_spread_ns}));
    }
    if (samples >= samples_for_jitter) {
        merge(found, standing_out(ranks, {Suspect::Kind::jittery, &RankConduct::done_spread_ns,
                                          &RankConduct::sent_bytes, waited_for, nullptr}));
    }
    std::sort(found.begin(), found.end(), [](Suspect const& a, Suspect const& b) { return a.rank < b.rank; });
    return found;
}

}  // namespace dlmb::measure
