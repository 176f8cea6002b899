// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/predict/simulator/symmetry.hpp"

#include <algorithm>
#include <numeric>

namespace dlmb::predict {
namespace {

/// What a step is, whatever the rank; nothing where it depends on the rank.
class RankFree {
public:
    RankFree(Plan const& plan, LoweringChoice const& choice, int ranks) : plan_(plan), choice_(choice), ranks_(ranks) {}

    /// How far apart ranks are that do the step alike; 0: it depends on the rank.
    [[nodiscard]] int stride_of(Operation const& operation) const {
        if (std::holds_alternative<Compute>(operation)) {
            return 1;
        }
        std::optional<algorithms::Collective> const collective = algorithms::collective_of(plan_, operation);
        if (!collective || collective->shape.places != ranks_ || collective->shape.place != plan_.me) {
            return 0;
        }
        algorithms::Shape const& shape = collective->shape;
        std::string const& name = algorithm_of(choice_, shape.kind);
        if (shape.kind == OperationKind::exchange && (name == "linear" || name == "pairwise")) {
            return 1;
        }
        algorithms::Algorithm algorithm = algorithms::find(name, shape.kind);
        algorithm = algorithm == algorithms::automatic ? algorithms::choose(shape) : algorithm;
        bool const equal_parts =
            shape.shares.empty() && shape.bytes % (size_of(shape.element) * static_cast<Bytes>(ranks_)) == 0;
        if (algorithm == algorithms::dissemination || algorithm == algorithms::bruck_exchange) {
            return 1;
        }
        if (algorithm == algorithms::neighbor && ranks_ % 2 == 0) {
            return equal_parts ? 2 : 0;
        }
        return (algorithm == algorithms::ring || algorithm == algorithms::neighbor) && equal_parts ? 1 : 0;
    }

private:
    Plan const& plan_;
    LoweringChoice const& choice_;
    int ranks_;
};

bool is_world(Group const& group, int ranks) {
    if (group.members.size() != static_cast<std::size_t>(ranks)) {
        return false;
    }
    for (int rank = 0; rank < ranks; ++rank) {
        if (group.members[static_cast<std::size_t>(rank)] != rank) {
            return false;
        }
    }
    return true;
}

/// The same operation of two ranks, but for their own numbers and places in buffers.
bool alike(Plan const& left_plan, Step const& left, Plan const& right_plan, Step const& right) {
    if (left.label != right.label || left.after != right.after || left.operation.index() != right.operation.index()) {
        return false;
    }
    if (auto const* compute = std::get_if<Compute>(&left.operation)) {
        return *compute == std::get<Compute>(right.operation);
    }
    auto const one = algorithms::collective_of(left_plan, left.operation);
    auto const other = algorithms::collective_of(right_plan, right.operation);
    return one && other && one->shape.bytes == other->shape.bytes && one->shape.element == other->shape.element &&
           one->shape.in_place == other->shape.in_place && one->shape.shares == other->shape.shares;
}

}  // namespace

int period_of(PlanSource const& plans, LoweringChoice const& choice, int domain) {
    auto const ranks = static_cast<int>(plans.ranks());
    Plan const first = plans.of(0);
    int period = std::max(1, domain);
    for (Step const& step : first.steps) {
        int const stride = RankFree(first, choice, ranks).stride_of(step.operation);
        if (stride == 0) {
            return ranks;
        }
        period = std::lcm(period, stride);
    }
    if (period >= ranks || ranks % period != 0) {
        return ranks;
    }
    for (Rank rank = 0; rank < ranks; ++rank) {
        Plan const plan = plans.of(rank);
        bool same = plan.steps.size() == first.steps.size() && plan.groups.size() == first.groups.size() &&
                    std::all_of(plan.groups.begin(), plan.groups.end(),
                                [ranks](Group const& group) { return is_world(group, ranks); });
        for (std::size_t step = 0; same && step < plan.steps.size(); ++step) {
            same = alike(first, first.steps[step], plan, plan.steps[step]);
        }
        if (!same) {
            return ranks;
        }
    }
    return period;
}

}  // namespace dlmb::predict
