// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// The plans of all ranks, one after the other. Plans of a collective on N ranks hold N members each: all of them at
// once would take memory with the square of N, so what is printed of them is made from one plan at a time.
#pragma once

#include "common/formats/plan/plan.hpp"

#include <functional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace dlmb {

class PlanSource {
public:
    /// `of` gives the plan of a rank, the same at each call.
    PlanSource(std::size_t ranks, std::function<Plan(Rank)> of) : ranks_(ranks), of_(std::move(of)) {}
    /// A source of plans that stay where they are (index = rank). Not explicit: plans that exist are a source.
    // NOLINTBEGIN(google-explicit-constructor)
    PlanSource(std::span<Plan const> plans)
        : PlanSource(plans.size(), [plans](Rank rank) { return plans[static_cast<std::size_t>(rank)]; }) {}
    PlanSource(std::vector<Plan> const& plans) : PlanSource(std::span(plans)) {}
    // NOLINTEND(google-explicit-constructor)

    [[nodiscard]] std::size_t ranks() const { return ranks_; }
    [[nodiscard]] Plan of(Rank rank) const { return of_(rank); }
    void each(std::function<void(Plan const&)> const& visit) const {
        for (std::size_t rank = 0; rank < ranks_; ++rank) {
            visit(of_(static_cast<Rank>(rank)));
        }
    }

private:
    std::size_t ranks_;
    std::function<Plan(Rank)> of_;
};

/// Takes a text piece by piece.
using TextSink = std::function<void(std::string_view)>;

}  // namespace dlmb
