// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/tuning/build/build_table.hpp"

#include <algorithm>

namespace dlmb::tuning {
namespace {

using Choices = std::vector<std::optional<Choice>>;

bool counts(Decision const& decision, bool accept_unconfirmed) {
    return decision.outcome == Outcome::chosen || (accept_unconfirmed && decision.outcome == Outcome::unconfirmed);
}

bool far_apart(Point const& left, Point const& right) {
    return (right.bytes - 1) / widest_gap >= std::max<Bytes>(left.bytes, 1);
}

/// What holds at each point; runs of unconfirmed choices that are too short fall back to the default.
Choices choices_at(std::span<Point const> points, Policy const& policy, bool accept_unconfirmed) {
    Choices choices;
    for (Point const& point : points) {
        choices.push_back(counts(point.decision, accept_unconfirmed) ? point.decision.winner : std::nullopt);
    }
    for (std::size_t first = 0; first < choices.size();) {
        std::size_t end = first + 1;
        bool confirmed = points[first].decision.outcome == Outcome::chosen;
        while (end < choices.size() && choices[end] == choices[first] && !far_apart(points[end - 1], points[end])) {
            confirmed = confirmed || points[end].decision.outcome == Outcome::chosen;
            ++end;
        }
        if (!confirmed && end - first < policy.hysteresis) {
            std::fill(choices.begin() + static_cast<std::ptrdiff_t>(first),
                      choices.begin() + static_cast<std::ptrdiff_t>(end), std::nullopt);
        }
        first = end;
    }
    return choices;
}

/// The last size of the gap between two neighbours that goes to the left one.
Bytes last_of_left(Point const& left, Point const& right, std::optional<Choice> const& a,
                   std::optional<Choice> const& b) {
    if (!a) {
        return right.bytes - 1;
    }
    return b ? geometric_middle(left.bytes, right.bytes) : left.bytes;
}

/// Whether no rule holds between the points i - 1 and i.
bool gap_before(std::size_t i, std::span<Point const> points, Choices const& choices) {
    return choices[i - 1] && choices[i] && far_apart(points[i - 1], points[i]);
}

}  // namespace

Bytes geometric_middle(Bytes a, Bytes b) {
    Bytes low = a;
    Bytes high = b;
    while (low < high) {
        Bytes const middle = low + (high - low + 1) / 2;
        bool const fits = static_cast<__uint128_t>(middle) * middle <= static_cast<__uint128_t>(a) * b;
        (fits ? low : high) = fits ? middle : middle - 1;
    }
    return low;
}

std::vector<Region> regions_of(std::span<Point const> points, Policy const& policy, bool accept_unconfirmed) {
    Choices const choices = choices_at(points, policy, accept_unconfirmed);
    std::vector<Region> regions;
    for (std::size_t i = 0; i < points.size(); ++i) {
        bool const joins = i > 0 && !gap_before(i, points, choices);
        if (joins && choices[i] == choices[i - 1]) {
            regions.back().bytes.max = points[i].bytes;
            regions.back().points.push_back(points[i]);
            continue;
        }
        Bytes begin = points[i].bytes;
        if (joins) {
            regions.back().bytes.max = last_of_left(points[i - 1], points[i], choices[i - 1], choices[i]);
            begin = regions.back().bytes.max + 1;
        }
        regions.push_back({{begin, points[i].bytes}, choices[i], {points[i]}});
    }
    return regions;
}

std::vector<Bytes> sizes_between(std::span<Point const> points, Policy const& policy, bool accept_unconfirmed) {
    Choices const choices = choices_at(points, policy, accept_unconfirmed);
    std::vector<Bytes> sizes;
    for (std::size_t i = 1; i < points.size(); ++i) {
        auto const ratio =
            static_cast<double>(points[i].bytes) / static_cast<double>(std::max<Bytes>(points[i - 1].bytes, 1));
        bool const differ = choices[i] != choices[i - 1] && ratio > policy.cut;
        if (differ || gap_before(i, points, choices)) {
            sizes.push_back(geometric_middle(points[i - 1].bytes, points[i].bytes));
        }
    }
    return sizes;
}

}  // namespace dlmb::tuning
