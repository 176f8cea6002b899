// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// How ranks divide a model (tensor, expert, data and pipeline parallelism), and where the parts of two such layouts
// meet.
#pragma once

#include "common/base/units.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace dlmb::reshard {

struct Range {
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
    [[nodiscard]] std::uint64_t size() const { return end - begin; }
    bool operator==(Range const&) const = default;
};

/// Part i of `size` units over n ranks: floor(i size / n) to floor((i + 1) size / n). Parts differ by at most one unit.
[[nodiscard]] Range part(std::uint64_t size, int n, int i);

/// Coordinates of a rank.
struct Place {
    int tp = 0;
    int ep = 0;
    int dp = 0;
    int pp = 0;
};

/// tp * ep * dp * pp ranks from `first` on, in Megatron's order: tensor, expert, data, pipeline, fastest first.
struct ParallelLayout {
    int tp = 1;
    int ep = 1;
    int dp = 1;
    int pp = 1;
    Rank first = 0;

    [[nodiscard]] int ranks() const { return tp * ep * dp * pp; }
    [[nodiscard]] bool has(Rank rank) const { return rank >= first && rank < first + ranks(); }
    [[nodiscard]] Place place_of(Rank rank) const;
    [[nodiscard]] Rank rank_of(Place const& place) const;
};

/// Consecutive units of one axis of a tensor that the same ranks hold and the same ranks need: coordinates on the axis
/// of the layout that cuts it, ascending.
struct Segment {
    Range units;
    std::vector<int> holders;
    std::vector<int> receivers;
};

/// The coarsest cut in which every part of both layouts is whole segments.
struct Axis {
    std::vector<Segment> segments;
    std::vector<Range> of_holder;  // by coordinate: the segments of its part
    std::vector<Range> of_receiver;
};

/// `held`, `needed`: the parts by coordinate; they may overlap or be empty.
[[nodiscard]] Axis meet(std::vector<Range> const& held, std::vector<Range> const& needed);

/// The ranks that have given coordinates on three axes, and any on that of data parallelism: ascending.
class RankSet {
public:
    RankSet(ParallelLayout const& layout, std::vector<int> const& pp, std::vector<int> const& ep,
            std::vector<int> const& tp)
        : layout_(layout), pp_(pp), ep_(ep), tp_(tp) {}

    [[nodiscard]] std::size_t size() const {
        return pp_.size() * static_cast<std::size_t>(layout_.dp) * ep_.size() * tp_.size();
    }
    [[nodiscard]] Rank at(std::size_t position) const;
    /// The position of the rank at `place`: at() in reverse.
    [[nodiscard]] std::size_t position_of(Place const& place) const;

private:
    ParallelLayout const& layout_;
    std::vector<int> const& pp_;
    std::vector<int> const& ep_;
    std::vector<int> const& tp_;
};

}  // namespace dlmb::reshard
