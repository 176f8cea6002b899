// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
// Splitting ranges of places, and joining them again. Sizes of sibling ranges differ by at most one: where the other
// range is longer, one place here has two counterparts; where it is shorter, one has none.
#include "common/formats/plan/algorithms/algorithms.hpp"

#include <algorithm>

namespace dlmb::algorithms {
namespace {

struct PlaceRange {
    int begin = 0;
    int end = 0;
    [[nodiscard]] int size() const { return end - begin; }
};

/// The sibling ranges of one level, and which of them has this place.
struct TreeLevel {
    std::vector<PlaceRange> ranges;
    std::size_t mine = 0;
};

std::vector<TreeLevel> levels_of(Shape const& shape, int radix) {
    std::vector<TreeLevel> levels;
    for (PlaceRange whole{0, shape.places}; whole.size() > 1; whole = levels.back().ranges[levels.back().mine]) {
        int const count = std::min(radix, whole.size());
        Parts const split(static_cast<Bytes>(whole.size()), Element::byte, count);
        TreeLevel level;
        for (int number = 0; number < count; ++number) {
            PlaceRange const range{whole.begin + static_cast<int>(split.begin(number)),
                                   whole.begin + static_cast<int>(split.begin(number + 1))};
            level.mine = range.begin <= shape.place ? level.ranges.size() : level.mine;
            level.ranges.push_back(range);
        }
        levels.push_back(std::move(level));
    }
    return levels;
}

class Knomial {
public:
    Knomial(Shape const& shape, Knobs const& knobs)
        : shape_(shape), parts_(shape), levels_(levels_of(shape, knobs.radix == 0 ? default_radix : knobs.radix)) {}

    /// `sums`: where partial results of the first level's own range may lie. `result`: where this place's part goes.
    void reduce_scatter(Area sums, Area result) {
        if (levels_.empty()) {
            plan_.copy(result, shape_.input(0), shape_.bytes);
            return;
        }
        Bytes const sums_begin = parts_.begin(own(levels_.front()).begin);
        for (std::size_t depth = 0; depth < levels_.size(); ++depth) {
            auto const partial = [&](PlaceRange const& range) {
                Bytes const begin = parts_.begin(range.begin);
                return depth == 0 ? shape_.input(begin) : sums + (begin - sums_begin);
            };
            TreeLevel const& level = levels_[depth];
            PlaceRange const mine = own(level);
            for (PlaceRange const& other : level.ranges) {
                if (other.begin != mine.begin) {
                    plan_.send(counterpart(other, mine), partial(other), bytes(other));
                }
            }
            bool const last = depth + 1 == levels_.size();
            join(level, partial(mine), last ? result : sums + (parts_.begin(mine.begin) - sums_begin));
        }
    }

    /// `from_input`: this place's part does not lie in the output yet. It is copied once its messages are on their way.
    void all_gather(bool from_input) {
        for (auto level = levels_.rbegin(); level != levels_.rend(); ++level) {
            PlaceRange const mine = own(*level);
            for (PlaceRange const& other : level->ranges) {
                if (other.begin == mine.begin) {
                    continue;
                }
                for (int peer = other.begin + shape_.place - mine.begin; peer < other.end; peer += mine.size()) {
                    plan_.send(peer, from_input ? shape_.input(0) : output(mine), bytes(mine));
                }
                plan_.receive(counterpart(other, mine), output(other), bytes(other));
            }
            if (from_input) {
                copy_own_input();
                from_input = false;
            }
        }
        if (from_input) {
            copy_own_input();
        }
    }

    /// Fresh memory for the partial results of the first level.
    [[nodiscard]] Area scratch_for_sums() {
        return plan_.scratch(levels_.size() < 2 ? 0 : bytes(own(levels_.front())));
    }
    [[nodiscard]] Area output_of_first_level() const { return levels_.empty() ? Area{} : output(own(levels_.front())); }
    [[nodiscard]] Area own_output() const { return shape_.output(parts_.begin(shape_.place)); }
    [[nodiscard]] MicroPlan finish() && { return std::move(plan_).finish(); }

private:
    void copy_own_input() {
        plan_.copy(shape_.output(parts_.begin(shape_.place)), shape_.input(0), parts_.bytes(shape_.place));
    }

    /// to = the partial results that the other ranges have for mine, and my own, in the order of their places.
    void join(TreeLevel const& level, Area own_operand, Area to) {
        PlaceRange const mine = own(level);
        std::vector<Area> operands;
        std::size_t own_number = 0;
        for (PlaceRange const& other : level.ranges) {
            if (other.begin == mine.begin) {
                own_number = operands.size();
                operands.push_back(own_operand);
                continue;
            }
            for (int peer = other.begin + shape_.place - mine.begin; peer < other.end; peer += mine.size()) {
                operands.push_back(plan_.scratch(bytes(mine)));
                plan_.receive(peer, operands.back(), bytes(mine));
            }
        }
        Area left = operands.front();
        for (std::size_t number = 1; number < operands.size(); ++number) {
            // `to` may be the memory of my own operand, which must not be lost before its turn.
            Area const sum = number < own_number ? operands.front() : to;
            plan_.reduce(sum, left, operands[number], bytes(mine));
            left = sum;
        }
        plan_.copy(to, left, bytes(mine));
    }

    /// The place in `other` that takes this place's data, or has data for it when gathering.
    [[nodiscard]] int counterpart(PlaceRange const& other, PlaceRange const& mine) const {
        return other.begin + (shape_.place - mine.begin) % other.size();
    }
    [[nodiscard]] static PlaceRange own(TreeLevel const& level) { return level.ranges[level.mine]; }
    [[nodiscard]] Bytes bytes(PlaceRange const& range) const {
        return parts_.begin(range.end) - parts_.begin(range.begin);
    }
    [[nodiscard]] Area output(PlaceRange const& range) const { return shape_.output(parts_.begin(range.begin)); }

    Shape const& shape_;
    Parts parts_;
    std::vector<TreeLevel> levels_;
    MicroPlanner plan_;
};

}  // namespace

MicroPlan knomial(Shape const& shape, Knobs const& knobs) {
    Knomial tree(shape, knobs);
    if (shape.kind == OperationKind::reduce_scatter) {
        Area const sums = tree.scratch_for_sums();
        tree.reduce_scatter(sums, shape.output(0));
    } else if (shape.kind == OperationKind::all_reduce) {
        tree.reduce_scatter(tree.output_of_first_level(), tree.own_output());
        tree.all_gather(false);
    } else {
        tree.all_gather(true);
    }
    return std::move(tree).finish();
}

MicroPlan fixed_tree(Shape const& shape, Knobs const& /*knobs*/) {
    return knomial(shape, {.radix = 2});
}

}  // namespace dlmb::algorithms
