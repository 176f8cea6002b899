// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/tools/predict/layouts.hpp"

#include "common/base/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace dlmb::predict {
namespace {

constexpr Sbp by_rows = split_along(0);     // of X and Y: tokens; of W: inputs
constexpr Sbp by_columns = split_along(1);  // values
constexpr std::size_t exhausted_layers = 4;
constexpr double most_choices = 1 << 20;

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

/// By layer, the place of its division among CostTables::divisions().
using LayerPicks = std::vector<int>;

/// All that one layer, or two that follow each other, can cost.
class CostTables {
public:
    CostTables(LayoutProblem const& problem, Price const& price)
        : problem_(problem), transitions_(problem.mesh, price) {
        if (problem.layers.empty() || problem.mesh.empty()) {
            throw UsageError("a layout needs at least one layer and one axis of the mesh");
        }
        std::vector<int> ways;
        for (int const ranks : problem.mesh) {
            ways.push_back(ranks == 1 ? 1 : 3);  // an axis of one rank is divided in one way only
        }
        std::vector<int> digits(ways.size(), 0);
        do {
            LayerDivision& division = divisions_.emplace_back();
            for (int const digit : digits) {
                division.push_back(static_cast<Division>(digit));
            }
        } while (advance(digits, ways));
        losses_ = all_losses();
        for (std::size_t layer = 0; layer < problem.layers.size(); ++layer) {
            for (LayerDivision const& own : divisions_) {
                alone_.push_back(cost_alone(layer, own));
                for (LayerDivision const& next : divisions_) {
                    bool const last = layer + 1 == problem.layers.size();
                    between_.push_back(last ? MoveCost{}
                                            : cost_of(forward(layer, own, next)) + cost_of(backward(layer, own, next)));
                }
            }
        }
    }

    [[nodiscard]] std::vector<LayerDivision> const& divisions() const { return divisions_; }
    [[nodiscard]] MoveCost of(LayerPicks const& choice) const {
        MoveCost cost;
        std::size_t const count = divisions_.size();
        for (std::size_t layer = 0; layer < choice.size(); ++layer) {
            std::size_t const place = layer * count + static_cast<std::size_t>(choice[layer]);
            cost = cost + alone_[place];
            if (layer + 1 < choice.size()) {
                cost = cost + between_[place * count + static_cast<std::size_t>(choice[layer + 1])];
            }
        }
        return cost;
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
    [[nodiscard]] std::vector<Layout> all_losses() const {
        std::vector<Layout> made;
        for (unsigned bits = 0; bits < 1U << problem_.mesh.size(); ++bits) {
            Layout loss;
            for (std::size_t axis = 0; axis < problem_.mesh.size(); ++axis) {
                loss.push_back((bits >> axis & 1U) != 0 ? by_rows : Sbp::broadcast);
            }
            made.push_back(std::move(loss));
        }
        return made;
    }

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
    [[nodiscard]] MoveCost cost_alone(std::size_t layer, LayerDivision const& own) const {
        MoveCost const cost = cost_of(weight_gradient(layer, own));
        return layer + 1 < problem_.layers.size() ? cost : cost + cost_of_loss(own, best_loss(own));
    }

    LayoutProblem const& problem_;
    Transitions transitions_;
    std::vector<LayerDivision> divisions_;
    std::vector<Layout> losses_;
    std::vector<MoveCost> alone_;    // [layer][division]
    std::vector<MoveCost> between_;  // [layer][division][division of the next]
};

struct FoundPicks {
    LayerPicks choice;
    MoveCost cost;
    std::uint64_t looked_at = 0;

    void consider(CostTables const& costs, LayerPicks const& other) {
        MoveCost const cost_of_other = costs.of(other);
        if (++looked_at == 1 || cost_of_other.is_below(cost)) {
            choice = other;
            cost = cost_of_other;
        }
    }
};

FoundPicks exhaust(CostTables const& costs, std::size_t layers) {
    std::size_t const count = costs.divisions().size();
    if (std::pow(static_cast<double>(count), static_cast<double>(layers)) > most_choices) {
        throw UsageError(fmt::format("{} layers in {} ways each are too many to try all", layers, count));
    }
    FoundPicks found;
    LayerPicks choice(layers, 0);
    LayerPicks const counts(layers, static_cast<int>(count));
    do {
        found.consider(costs, choice);
    } while (advance(choice, counts));
    return found;
}

/// Coordinate descent: a coordinate is two neighbouring layers, because a column-wise one pays only with a row-wise one
/// behind it. It starts from each division of all layers.
FoundPicks descend(CostTables const& costs, std::size_t layers) {
    auto const count = static_cast<int>(costs.divisions().size());
    FoundPicks best;
    std::uint64_t looked_at = 0;
    for (int start = 0; start < count; ++start) {
        FoundPicks here;
        here.consider(costs, LayerPicks(layers, start));
        for (bool improved = true; improved;) {
            LayerPicks const before = here.choice;
            for (std::size_t layer = 0; layer < std::max<std::size_t>(layers - 1, 1); ++layer) {
                LayerPicks choice = here.choice;
                for (int pair = 0; pair < count * count; ++pair) {
                    choice[layer] = pair / count;
                    if (layer + 1 < layers) {
                        choice[layer + 1] = pair % count;
                    }
                    here.consider(costs, choice);
                }
            }
            improved = here.choice != before;
        }
        looked_at += here.looked_at;
        if (start == 0 || here.cost.is_below(best.cost)) {
            best = here;
        }
    }
    best.looked_at = looked_at;
    return best;
}

}  // namespace

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
    LayoutChoice choice{divisions, CostTables(problem, price).moves_of(divisions), 0, 1};
    for (LayoutMove const& each : choice.moves) {
        choice.us += each.move.us;
    }
    return choice;
}

LayoutChoice search_layouts(LayoutProblem const& problem, Price const& price, SearchBy by) {
    CostTables const costs(problem, price);
    std::size_t const layers = problem.layers.size();
    bool const all = by == SearchBy::exhaustion || (by == SearchBy::automatic && layers <= exhausted_layers);
    FoundPicks const found = all ? exhaust(costs, layers) : descend(costs, layers);
    LayoutChoice choice{{}, {}, found.cost.us, found.looked_at};
    for (int const pick : found.choice) {
        choice.divisions.push_back(costs.divisions()[static_cast<std::size_t>(pick)]);
    }
    choice.moves = costs.moves_of(choice.divisions);
    return choice;
}

}  // namespace dlmb::predict
