// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/tools/predict/sbp.hpp"

#include "common/base/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace dlmb::predict {
namespace {

constexpr double most_layouts = 4096;
constexpr std::array choices{Sbp::partial, Sbp::broadcast, split_along(0), split_along(1)};  // of an axis

struct Span {
    double begin = 0;
    double length = 1;
};

/// What the rank at `place` holds of a dimension, which the axes that split it cut one inside the other.
Span span_of(Layout const& layout, int dimension, Mesh const& mesh, std::vector<int> const& place) {
    Span span;
    for (std::size_t axis = 0; axis < mesh.size(); ++axis) {
        if (layout[axis] == split_along(dimension)) {
            span.length /= mesh[axis];
            span.begin += span.length * place[axis];
        }
    }
    return span;
}

double overlap(Span const& one, Span const& other) {
    return std::max(0.0,
                    std::min(one.begin + one.length, other.begin + other.length) - std::max(one.begin, other.begin));
}

double ranks_of(Mesh const& mesh) {
    double ranks = 1;
    for (int const extent : mesh) {
        ranks *= extent;
    }
    return ranks;
}

}  // namespace

bool advance(std::vector<int>& digits, std::vector<int> const& bases) {
    for (std::size_t place = digits.size(); place-- > 0;) {
        if (++digits[place] < bases[place]) {
            return true;
        }
        digits[place] = 0;
    }
    return false;
}

std::string text_of(Sbp sbp) {
    return sbp == Sbp::broadcast ? "B" : sbp == Sbp::partial ? "P" : fmt::format("S{}", static_cast<int>(sbp));
}

std::string text_of(Layout const& layout) {
    if (layout.size() == 1) {
        return text_of(layout.front());
    }
    std::string text;
    for (Sbp const sbp : layout) {
        text += fmt::format("{}{}", text.empty() ? "" : ",", text_of(sbp));
    }
    return fmt::format("({})", text);
}

bool MoveCost::is_below(MoveCost const& other) const {
    constexpr double rounding = 1e-9;
    bool const equal = std::abs(us - other.us) <= rounding * std::max(us, other.us);
    return equal ? moves < other.moves : us < other.us;
}

MoveCost cost_of(std::vector<Move> const& moves) {
    MoveCost cost{0, moves.size()};
    for (Move const& move : moves) {
        cost.us += move.us;
    }
    return cost;
}

Transitions::Transitions(Mesh mesh, Price price) : mesh_(std::move(mesh)), price_(std::move(price)) {
    double const layouts = std::pow(static_cast<double>(choices.size()), static_cast<double>(mesh_.size()));
    if (layouts > most_layouts) {
        throw UsageError(fmt::format("a mesh of {} axes has too many layouts; use at most 6 axes", mesh_.size()));
    }
    for (std::size_t number = 0; number < static_cast<std::size_t>(layouts); ++number) {
        Layout from;
        for (std::size_t rest = number; from.size() < mesh_.size(); rest /= choices.size()) {
            from.push_back(choices[rest % choices.size()]);
        }
        auto& steps = steps_.emplace_back();
        for (std::size_t axis = 0; axis < mesh_.size(); ++axis) {
            for (Sbp const choice : choices) {
                if (choice != from[axis] && choice != Sbp::partial) {
                    if (auto made = step(from, axis, choice)) {
                        steps.push_back(*std::move(made));
                    }
                }
            }
        }
    }
}

std::size_t Transitions::number_of(Layout const& layout) const {
    std::size_t number = 0;
    for (std::size_t axis = mesh_.size(); axis-- > 0;) {
        auto const choice = std::find(choices.begin(), choices.end(), layout.at(axis));
        if (choice == choices.end()) {
            throw UsageError(
                fmt::format("layout {} splits a dimension that the tensor does not have", text_of(layout)));
        }
        number = number * choices.size() + static_cast<std::size_t>(choice - choices.begin());
    }
    return number;
}

Move Transitions::reordering(Layout const& from, Layout const& to, int dimension) const {
    Move move;
    move.operation = OperationKind::exchange;
    double whole = 1;  // of what the other dimensions leave of the tensor
    for (std::size_t axis = 0; axis < mesh_.size(); ++axis) {
        bool const takes_part = from[axis] == split_along(dimension) || to[axis] == split_along(dimension);
        if (takes_part) {
            move.axes.push_back(static_cast<int>(axis));
            move.ranks *= mesh_[axis];
        } else if (is_split(from[axis])) {
            whole /= mesh_[axis];
        }
    }
    double busiest = 0;
    std::vector<int> place(mesh_.size(), 0);
    do {
        Span const needed = span_of(to, dimension, mesh_, place);
        double const missing =
            whole * std::max(0.0, needed.length - overlap(needed, span_of(from, dimension, mesh_, place)));
        move.volume += missing;
        busiest = std::max(busiest, missing);
    } while (advance(place, mesh_));
    move.bytes = busiest * move.ranks / std::max(move.ranks - 1, 1);  // a full exchange in which a rank gets as much
    return move;
}

std::optional<Transitions::Step> Transitions::step(Layout const& from, std::size_t axis, Sbp to) const {
    Sbp const was = from[axis];
    bool reorders = false;
    double whole = 1;  // of a group
    for (std::size_t other = 0; other < mesh_.size(); ++other) {
        if (other != axis && is_split(from[other])) {
            whole /= mesh_[other];
            reorders = reorders || (other > axis && (from[other] == was || from[other] == to) && mesh_[other] > 1);
        }
    }
    Layout after = from;
    after[axis] = to;
    Step made{number_of(after), false, {}};
    Move& move = made.move;
    if (reorders) {
        bool const one_dimension = (was == Sbp::broadcast) != (to == Sbp::broadcast) && was != Sbp::partial;
        if (!one_dimension) {
            return std::nullopt;
        }
        move = reordering(from, after, static_cast<int>(is_split(was) ? was : to));
        made.is_free = move.volume <= 0;
    } else {
        int const ranks = mesh_[axis];
        double const groups = ranks_of(mesh_) / ranks;
        move = {
            OperationKind::all_reduce, {static_cast<int>(axis)}, ranks, whole, groups * whole * (ranks - 1), 0, {}, {}};
        made.is_free = was == Sbp::broadcast || ranks == 1;  // the part is there
        if (was == Sbp::partial) {
            move.operation = is_split(to) ? OperationKind::reduce_scatter : OperationKind::all_reduce;
            move.volume *= is_split(to) ? 1 : 2;
        } else if (to == Sbp::broadcast) {
            move.operation = OperationKind::all_gather;
        } else {
            move.operation = OperationKind::exchange;
            move.bytes /= ranks;
            move.volume /= ranks;
        }
    }
    move.from = from;
    move.to = std::move(after);
    return made;
}

std::vector<Move> Transitions::between(Layout const& from, Layout const& to, double tensor_bytes) const {
    // Dijkstra over layouts. Of paths that cost the same, the one with the fewest collectives.
    struct Path {
        MoveCost cost;
        std::size_t before = 0;      // number of the layout
        Step const* step = nullptr;  // that led here
        bool seen = false;
        bool done = false;
    };
    std::vector<Path> paths(steps_.size());
    std::size_t const start = number_of(from);
    std::size_t const goal = number_of(to);
    paths[start].seen = true;
    while (!paths[goal].done) {
        std::size_t nearest = paths.size();
        for (std::size_t number = 0; number < paths.size(); ++number) {
            bool const open = paths[number].seen && !paths[number].done;
            if (open && (nearest == paths.size() || paths[number].cost.is_below(paths[nearest].cost))) {
                nearest = number;
            }
        }
        if (nearest == paths.size()) {
            throw UsageError(fmt::format("no path from layout {} to {}", text_of(from), text_of(to)));
        }
        paths[nearest].done = true;
        for (Step const& step : steps_[nearest]) {
            Path& next = paths[step.to];
            if (next.done) {
                continue;
            }
            MoveCost cost = paths[nearest].cost;
            if (!step.is_free) {
                cost = cost + MoveCost{price_(step.move.operation, step.move.bytes * tensor_bytes, step.move.ranks), 1};
            }
            if (!next.seen || cost.is_below(next.cost)) {
                next = {cost, nearest, &step, true, false};
            }
        }
    }
    std::vector<Move> moves;
    for (std::size_t here = goal; paths[here].step != nullptr; here = paths[here].before) {
        if (!paths[here].step->is_free) {
            Move& move = moves.emplace_back(paths[here].step->move);
            move.bytes *= tensor_bytes;
            move.volume *= tensor_bytes;
            move.us = price_(move.operation, move.bytes, move.ranks);
        }
    }
    std::reverse(moves.begin(), moves.end());
    return moves;
}

}  // namespace dlmb::predict
