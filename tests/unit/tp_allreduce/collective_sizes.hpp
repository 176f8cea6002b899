// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// What the collectives of a plan carry, by operation and by the beginning of the label.
#pragma once

#include "common/formats/plan/plan.hpp"

#include <string_view>
#include <variant>
#include <vector>

namespace dlmb {

/// Bytes of every step with that operation whose label starts with `label`, in plan order.
template <OperationKind kind>
std::vector<Bytes> sizes(Plan const& plan, std::string_view label) {
    std::vector<Bytes> found;
    for (Step const& step : plan.steps) {
        auto const* collective = std::get_if<Collective>(&step.operation);
        if (collective != nullptr && collective->kind == kind &&
            std::string_view(step.label).substr(0, label.size()) == label) {
            found.push_back(collective->bytes);
        }
    }
    return found;
}

inline std::vector<Bytes> repeated(std::size_t count, Bytes bytes) {
    return std::vector<Bytes>(count, bytes);
}

/// No buffer is shared, so every delivered byte is checked.
inline bool fully_checked(Plan const& plan) {
    for (Buffer const& buffer : plan.buffers) {
        if (buffer.shared) {
            return false;
        }
    }
    return true;
}

}  // namespace dlmb
