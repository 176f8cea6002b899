// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/backends/tuned/step_text.hpp"

#include "common/backends/tuned/parts.hpp"

#include <fmt/core.h>

namespace dlmb::tuned {
namespace {

std::string choice_text(Step const& step, StepChoice const& choice) {
    if (std::holds_alternative<Compute>(step.operation)) {
        return "compute";
    }
    return fmt::format("{}:{}", name_of(choice), choice.rule.empty() ? "none" : choice.rule);
}

}  // namespace

std::string step_text(Plan const& plan, std::span<StepChoice const> choices) {
    std::string text;
    std::size_t first = 0;
    while (first < choices.size()) {
        std::string const mine = choice_text(plan.steps[first], choices[first]);
        std::size_t last = first;
        while (last + 1 < choices.size() && choice_text(plan.steps[last + 1], choices[last + 1]) == mine) {
            ++last;
        }
        text += fmt::format("{}{}{}:{}", text.empty() ? "" : " ", first, last == first ? "" : fmt::format("-{}", last),
                            mine);
        first = last + 1;
    }
    return text;
}

}  // namespace dlmb::tuned
