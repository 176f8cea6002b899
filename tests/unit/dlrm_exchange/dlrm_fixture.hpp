// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Short ways to a dlrm_exchange pattern and to the steps of its plans.
#pragma once

#include "patterns/dlrm_exchange/dlrm_exchange.hpp"
#include "tests/unit/patterns/pattern_under_test.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace dlmb::dlrm_exchange {

inline constexpr Bytes fp32 = 4;
inline constexpr Bytes int32 = 4;
inline constexpr Bytes int64 = 8;

inline std::unique_ptr<Pattern> make_dlrm(Parameters const& overrides, int ranks, std::string_view preset = "") {
    return make_pattern(type(), preset, overrides, {ranks, ranks});
}

inline std::string refusal(Parameters const& overrides, int ranks = 2) {
    return dlmb::refusal(type(), "", overrides, {ranks, ranks});
}

inline std::vector<Plan> plans_of(Parameters const& overrides, int ranks, std::string_view preset = "",
                                  Draw draw = {}) {
    return build_all(*make_dlrm(overrides, ranks, preset), {ranks, ranks}, draw);
}

template <class Operation>
Operation const& step_of(Plan const& plan, std::string_view label) {
    return std::get<Operation>(steps_with(plan, label).at(0)->operation);
}

template <OperationKind kind>
Collective const& step_of(Plan const& plan, std::string_view label) {
    auto const& step = step_of<Collective>(plan, label);
    EXPECT_EQ(step.kind, kind) << label;
    return step;
}

inline Exchange const& exchange_of(Plan const& plan, std::string_view label) {
    return step_of<Exchange>(plan, label);
}

inline Bytes sent(Plan const& plan, std::string_view label) {
    return total(exchange_of(plan, label).send);
}

/// By rank.
inline std::vector<Bytes> sent(std::vector<Plan> const& plans, std::string_view label) {
    std::vector<Bytes> bytes;
    for (Plan const& plan : plans) {
        bytes.push_back(sent(plan, label));
    }
    return bytes;
}

}  // namespace dlmb::dlrm_exchange
