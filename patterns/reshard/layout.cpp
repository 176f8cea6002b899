// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "patterns/reshard/layout.hpp"

#include <algorithm>

namespace dlmb::reshard {
namespace {

std::size_t index_in(std::vector<int> const& sorted, int value) {
    return static_cast<std::size_t>(std::lower_bound(sorted.begin(), sorted.end(), value) - sorted.begin());
}

}  // namespace

Range part(std::uint64_t size, int n, int i) {
    auto const ranks = static_cast<std::uint64_t>(n);
    auto const begin_of = [&](std::uint64_t rank) {
        // size * rank may be beyond 2^64; quotient and remainder are not.
        return size / ranks * rank + size % ranks * rank / ranks;
    };
    auto const rank = static_cast<std::uint64_t>(i);
    return {begin_of(rank), begin_of(rank + 1)};
}

Place ParallelLayout::place_of(Rank rank) const {
    int const own = rank - first;
    return {own % tp, own / tp % ep, own / tp / ep % dp, own / tp / ep / dp};
}

Rank ParallelLayout::rank_of(Place const& place) const {
    return first + ((place.pp * dp + place.dp) * ep + place.ep) * tp + place.tp;
}

Axis meet(std::vector<Range> const& held, std::vector<Range> const& needed) {
    std::vector<std::uint64_t> cuts;
    for (auto const* parts : {&held, &needed}) {
        for (Range const& each : *parts) {
            if (each.size() > 0) {
                cuts.insert(cuts.end(), {each.begin, each.end});
            }
        }
    }
    std::sort(cuts.begin(), cuts.end());
    cuts.erase(std::unique(cuts.begin(), cuts.end()), cuts.end());
    Axis axis;
    for (std::size_t i = 0; i + 1 < cuts.size(); ++i) {
        axis.segments.push_back({{cuts[i], cuts[i + 1]}, {}, {}});
    }
    auto const segment_at = [&](std::uint64_t unit) {
        return static_cast<std::uint64_t>(std::lower_bound(cuts.begin(), cuts.end(), unit) - cuts.begin());
    };
    auto const assign = [&](std::vector<Range> const& parts, std::vector<Range>& of,
                            std::vector<int> Segment::*coordinates) {
        for (std::size_t i = 0; i < parts.size(); ++i) {
            bool const empty = parts[i].size() == 0;
            of.push_back(empty ? Range{} : Range{segment_at(parts[i].begin), segment_at(parts[i].end)});
            for (std::uint64_t segment = of[i].begin; segment < of[i].end; ++segment) {
                (axis.segments[segment].*coordinates).push_back(static_cast<int>(i));
            }
        }
    };
    assign(held, axis.of_holder, &Segment::holders);
    assign(needed, axis.of_receiver, &Segment::receivers);
    return axis;
}

Rank RankSet::at(std::size_t position) const {
    auto const dp = static_cast<std::size_t>(layout_.dp);
    std::size_t const tp = position % tp_.size();
    position /= tp_.size();
    std::size_t const ep = position % ep_.size();
    position /= ep_.size();
    return layout_.rank_of({tp_[tp], ep_[ep], static_cast<int>(position % dp), pp_[position / dp]});
}

std::size_t RankSet::position_of(Place const& place) const {
    std::size_t const replica =
        index_in(pp_, place.pp) * static_cast<std::size_t>(layout_.dp) + static_cast<std::size_t>(place.dp);
    return (replica * ep_.size() + index_in(ep_, place.ep)) * tp_.size() + index_in(tp_, place.tp);
}

}  // namespace dlmb::reshard
