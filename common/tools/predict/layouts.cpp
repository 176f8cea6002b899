// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/tools/predict/layouts.hpp"

#include "common/base/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <numeric>

namespace dlmb::predict {
namespace {

constexpr std::array choices{Sbp::partial, Sbp::broadcast, split_along(0), split_along(1)};  // of an axis

struct Span {
    double begin = 0;
    double length = 1;
};

/// The part of a dimension that the rank at `place` holds. Axes that split it cut one inside the other.
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
    return std::accumulate(mesh.begin(), mesh.end(), 1.0, std::multiplies<>());
}

constexpr Sbp by_rows = split_along(0);     // of X and Y: tokens; of W: inputs
constexpr Sbp by_columns = split_along(1);  // values

struct Signature {
    Sbp input, output, output_gradient, input_gradient, weight, weight_gradient;
};

constexpr Signature signature_of(Division division) {
    switch (division) {
    case Division::data:
        return {by_rows, by_rows, by_rows, by_rows, Sbp::broadcast, Sbp::partial};
    case Division::column:
        return {Sbp::broadcast, by_columns, by_columns, Sbp::partial, by_columns, by_columns};
    case Division::row:
        break;
    }
    return {by_columns, Sbp::partial, Sbp::broadcast, by_columns, by_rows, by_rows};
}

Layout layout_of(LayerDivision const& divisions, Sbp Signature::*tensor) {
    Layout made;
    for (Division const division : divisions) {
        made.push_back(signature_of(division).*tensor);
    }
    return made;
}

/// Costs of single layers and of neighbours.
class LayerCosts {
public:
    LayerCosts(LayoutProblem const& problem, Price const& price)
        : problem_(problem), transitions_(problem.mesh, price) {
        if (problem.layers.empty() || problem.mesh.empty()) {
            throw UsageError("a layout needs at least one layer and one axis of the mesh");
        }
        std::vector<int> const either(problem.mesh.size(), 2);
        std::vector<int> digits(problem.mesh.size(), 0);
        do {
            Layout& loss = losses_.emplace_back();
            for (int const digit : digits) {
                loss.push_back(digit == 0 ? Sbp::broadcast : by_rows);
            }
        } while (advance(digits, either));
    }

    /// The last layer costs the loss, too.
    [[nodiscard]] MoveCost alone(std::size_t layer, LayerDivision const& own) const {
        MoveCost const cost = cost_of(weight_gradient(layer, own));
        return layer + 1 < problem_.layers.size() ? cost : cost + cost_of_loss(own, best_loss(own));
    }
    /// Costs between a layer and the next one.
    [[nodiscard]] MoveCost between(std::size_t layer, LayerDivision const& own, LayerDivision const& next) const {
        return cost_of(forward(layer, own, next)) + cost_of(backward(layer, own, next));
    }

    [[nodiscard]] std::vector<LayoutMove> moves_of(std::vector<LayerDivision> const& chosen) const {
        std::vector<LayoutMove> moves;
        auto const append = [&](std::size_t layer, char const* tensor, std::vector<Move> const& more) {
            for (Move const& move : more) {
                moves.push_back({layer, tensor, move});
            }
        };
        std::size_t const last = chosen.size() - 1;
        for (std::size_t layer = 0; layer < last; ++layer) {
            append(layer, "output", forward(layer, chosen[layer], chosen[layer + 1]));
        }
        Layout const loss = best_loss(chosen[last]);
        append(last, "output", to_loss(chosen[last], loss));
        append(last, "loss gradient", from_loss(chosen[last], loss));
        for (std::size_t layer = last + 1; layer-- > 0;) {
            append(layer, "weight gradient", weight_gradient(layer, chosen[layer]));
            if (layer > 0) {
                append(layer, "input gradient", backward(layer - 1, chosen[layer - 1], chosen[layer]));
            }
        }
        return moves;
    }

private:
    [[nodiscard]] double activation_bytes(double values) const {
        return problem_.tokens * values * problem_.element_bytes;
    }
    [[nodiscard]] double output_bytes(std::size_t layer) const {
        return activation_bytes(problem_.layers[layer].outputs);
    }

    [[nodiscard]] std::vector<Move> forward(std::size_t layer, LayerDivision const& own,
                                            LayerDivision const& next) const {
        return transitions_.between(layout_of(own, &Signature::output), layout_of(next, &Signature::input),
                                    output_bytes(layer));
    }
    /// The gradient that layer + 1 makes of its input.
    [[nodiscard]] std::vector<Move> backward(std::size_t layer, LayerDivision const& own,
                                             LayerDivision const& next) const {
        return transitions_.between(layout_of(next, &Signature::input_gradient),
                                    layout_of(own, &Signature::output_gradient),
                                    activation_bytes(problem_.layers[layer + 1].inputs));
    }
    [[nodiscard]] std::vector<Move> weight_gradient(std::size_t layer, LayerDivision const& own) const {
        Layer const& shape = problem_.layers[layer];
        return transitions_.between(layout_of(own, &Signature::weight_gradient), layout_of(own, &Signature::weight),
                                    shape.inputs * shape.outputs * problem_.element_bytes);
    }
    [[nodiscard]] std::vector<Move> to_loss(LayerDivision const& own, Layout const& loss) const {
        return transitions_.between(layout_of(own, &Signature::output), loss, output_bytes(problem_.layers.size() - 1));
    }
    [[nodiscard]] std::vector<Move> from_loss(LayerDivision const& own, Layout const& loss) const {
        return transitions_.between(loss, layout_of(own, &Signature::output_gradient),
                                    output_bytes(problem_.layers.size() - 1));
    }
    [[nodiscard]] MoveCost cost_of_loss(LayerDivision const& own, Layout const& loss) const {
        return cost_of(to_loss(own, loss)) + cost_of(from_loss(own, loss));
    }
    [[nodiscard]] Layout best_loss(LayerDivision const& own) const {
        return *std::min_element(losses_.begin(), losses_.end(), [&](Layout const& one, Layout const& other) {
            return cost_of_loss(own, one).is_below(cost_of_loss(own, other));
        });
    }

    LayoutProblem const& problem_;
    Transitions transitions_;
    std::vector<Layout> losses_;
};

/// All divisions of one layer; an axis of one rank is divided in one way only.
std::vector<LayerDivision> divisions_on(Mesh const& mesh) {
    std::vector<int> ways;
    for (int const ranks : mesh) {
        ways.push_back(ranks == 1 ? 1 : 3);
    }
    std::vector<LayerDivision> divisions;
    std::vector<int> digits(ways.size(), 0);
    do {
        LayerDivision& division = divisions.emplace_back();
        for (int const digit : digits) {
            division.push_back(static_cast<Division>(digit));
        }
    } while (advance(digits, ways));
    return divisions;
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
    bool const equal = us == other.us || std::abs(us - other.us) <= rounding * std::min(us, other.us);
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
    auto const layouts = static_cast<std::size_t>(std::pow(choices.size(), mesh_.size()));
    for (std::size_t number = 0; number < layouts; ++number) {
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
    Step made{number_of(after), {}};
    Move& move = made.move;
    if (reorders) {
        bool const one_dimension = (was == Sbp::broadcast) != (to == Sbp::broadcast) && was != Sbp::partial;
        if (!one_dimension) {
            return std::nullopt;
        }
        move = reordering(from, after, static_cast<int>(is_split(was) ? was : to));
    } else {
        int const ranks = mesh_[axis];
        double const groups = ranks_of(mesh_) / ranks;
        move = {
            OperationKind::all_reduce, {static_cast<int>(axis)}, ranks, whole, groups * whole * (ranks - 1), 0, {}, {}};
        if (was == Sbp::broadcast) {
            move.volume = 0;  // the part is there
        } else if (was == Sbp::partial) {
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
            if (step.move.volume > 0) {
                cost = cost + MoveCost{price_(step.move.operation, step.move.bytes * tensor_bytes, step.move.ranks), 1};
            }
            if (!next.seen || cost.is_below(next.cost)) {
                next = {cost, nearest, &step, true, false};
            }
        }
    }
    std::vector<Move> moves;
    for (std::size_t here = goal; paths[here].step != nullptr; here = paths[here].before) {
        if (paths[here].step->move.volume > 0) {
            Move& move = moves.emplace_back(paths[here].step->move);
            move.bytes *= tensor_bytes;
            move.volume *= tensor_bytes;
            move.us = price_(move.operation, move.bytes, move.ranks);
        }
    }
    std::reverse(moves.begin(), moves.end());
    return moves;
}

std::string_view name_of(Division division) {
    constexpr std::array<std::string_view, 3> names{"data", "column", "row"};
    return names.at(static_cast<std::size_t>(division));
}

std::string text_of(LayerDivision const& divisions) {
    std::string text;
    for (Division const division : divisions) {
        text += fmt::format("{}{}", text.empty() ? "" : ",", name_of(division));
    }
    return text;
}

LayoutChoice price_of(LayoutProblem const& problem, std::vector<LayerDivision> const& divisions, Price const& price) {
    LayoutChoice choice{divisions, LayerCosts(problem, price).moves_of(divisions), 0, 1};
    choice.us = std::accumulate(choice.moves.begin(), choice.moves.end(), 0.0,
                                [](double us, LayoutMove const& each) { return us + each.move.us; });
    return choice;
}

LayoutChoice search_layouts(LayoutProblem const& problem, Price const& price) {
    LayerCosts const costs(problem, price);
    std::vector<LayerDivision> const divisions = divisions_on(problem.mesh);
    std::size_t const layers = problem.layers.size();
    LayoutChoice choice{std::vector<LayerDivision>(layers), {}, 0, 0};
    std::vector<MoveCost> best(divisions.size());  // of the layers up to one, by its division
    std::vector<std::vector<std::size_t>> before(layers, std::vector<std::size_t>(divisions.size()));
    for (std::size_t layer = 0; layer < layers; ++layer) {
        std::vector<MoveCost> next(divisions.size());
        for (std::size_t own = 0; own < divisions.size(); ++own) {
            for (std::size_t last = 0; layer > 0 && last < divisions.size(); ++last, ++choice.looked_at) {
                MoveCost const cost = best[last] + costs.between(layer - 1, divisions[last], divisions[own]);
                if (last == 0 || cost.is_below(next[own])) {
                    next[own] = cost;
                    before[layer][own] = last;
                }
            }
            next[own] = next[own] + costs.alone(layer, divisions[own]);
        }
        best = std::move(next);
    }
    choice.looked_at += divisions.size();
    auto const cheapest = std::min_element(best.begin(), best.end(),
                                           [](auto const& one, auto const& other) { return one.is_below(other); });
    choice.us = cheapest->us;
    auto pick = static_cast<std::size_t>(cheapest - best.begin());
    for (std::size_t layer = layers; layer-- > 0; pick = before[layer][pick]) {
        choice.divisions[layer] = divisions[pick];
    }
    choice.moves = costs.moves_of(choice.divisions);
    for (LayoutMove const& each : choice.moves) {
        if (std::isinf(each.move.us)) {
            throw UsageError(fmt::format("no layout has a price: the model prices no algorithm of {} over {} ranks",
                                         name_in_tables(each.move.operation), each.move.ranks));
        }
    }
    return choice;
}

}  // namespace dlmb::predict
