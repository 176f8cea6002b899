// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/measure/rounds.hpp"

#include "common/measure/statistics/order_statistics.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

namespace dlmb::measure {
namespace {

// The finaliser of splitmix64 (Steele, Lea, Flood 2014). Not std::shuffle: its result differs between libraries.
std::uint64_t scrambled(std::uint64_t x) {
    x += 0x9E3779B97F4A7C15ULL;
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ULL;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBULL;
    return x ^ (x >> 31);
}

}  // namespace

std::vector<std::size_t> round_order(std::size_t count, std::uint64_t seed, std::uint64_t round) {
    std::vector<std::size_t> order(count);
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::uint64_t const key = scrambled(scrambled(seed) + round);
    for (std::size_t left = count; left > 1; --left) {
        std::swap(order[left - 1], order[scrambled(key + left) % left]);
    }
    return order;
}

namespace {

constexpr std::size_t rounds_least = 2;

struct Place {
    std::size_t index = 0;
    double median = 0;
};

std::vector<Hopeless> hopeless_of(std::span<Standing const> standings, std::vector<Place> league, double factor) {
    for (Place& place : league) {
        place.median = median(standings[place.index].round_medians_ns);
    }
    std::stable_sort(league.begin(), league.end(), [](Place a, Place b) { return a.median < b.median; });
    Place const best = league.front();
    auto const rounds_of_best = standings[best.index].round_medians_ns;
    double const bound = factor * *std::max_element(rounds_of_best.begin(), rounds_of_best.end());
    std::vector<Hopeless> gone;
    for (std::size_t place = (league.size() + 1) / 2; place < league.size(); ++place) {
        Standing const& standing = standings[league[place].index];
        auto const rounds = standing.round_medians_ns;
        bool const slower = *std::min_element(rounds.begin(), rounds.end()) > bound;
        if (standing.may_go && rounds.size() >= rounds_least && slower) {
            gone.push_back({league[place].index, league[place].median / best.median});
        }
    }
    return gone;
}

}  // namespace

std::vector<Hopeless> hopeless(std::span<Standing const> standings, double factor) {
    std::map<std::size_t, std::vector<Place>> leagues;
    for (std::size_t index = 0; index < standings.size(); ++index) {
        if (!standings[index].round_medians_ns.empty()) {
            leagues[standings[index].league].push_back({index});
        }
    }
    std::vector<Hopeless> gone;
    for (auto const& [league, places] : leagues) {
        std::vector<Hopeless> const more = hopeless_of(standings, places, factor);
        gone.insert(gone.end(), more.begin(), more.end());
    }
    return gone;
}

}  // namespace dlmb::measure
