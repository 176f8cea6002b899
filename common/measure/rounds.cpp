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

std::vector<Dropped> slow_in_group(std::span<CellSoFar const> cells, std::vector<Place> group, double factor) {
    for (Place& place : group) {
        place.median = median(cells[place.index].round_medians_ns);
    }
    std::stable_sort(group.begin(), group.end(), [](Place a, Place b) { return a.median < b.median; });
    Place const best = group.front();
    auto const rounds_of_best = cells[best.index].round_medians_ns;
    double const bound = factor * *std::max_element(rounds_of_best.begin(), rounds_of_best.end());
    std::vector<Dropped> dropped;
    for (std::size_t place = (group.size() + 1) / 2; place < group.size(); ++place) {
        CellSoFar const& cell = cells[group[place].index];
        auto const rounds = cell.round_medians_ns;
        bool const slower = *std::min_element(rounds.begin(), rounds.end()) > bound;
        if (cell.may_drop && rounds.size() >= rounds_least && slower) {
            dropped.push_back({group[place].index, group[place].median / best.median});
        }
    }
    return dropped;
}

}  // namespace

std::vector<Dropped> cells_to_drop(std::span<CellSoFar const> cells, double factor) {
    std::map<std::size_t, std::vector<Place>> groups;
    for (std::size_t index = 0; index < cells.size(); ++index) {
        if (!cells[index].round_medians_ns.empty()) {
            groups[cells[index].group].push_back({index});
        }
    }
    std::vector<Dropped> dropped;
    for (auto const& [group, places] : groups) {
        std::vector<Dropped> const slow = slow_in_group(cells, places, factor);
        dropped.insert(dropped.end(), slow.begin(), slow.end());
    }
    return dropped;
}

}  // namespace dlmb::measure
