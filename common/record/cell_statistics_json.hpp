// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// The statistics of a cell as JSON and back: summaries of samples, rounds, and what the order of the samples says.
#pragma once

#include "common/measure/cell_result.hpp"
#include "common/record/json_parts.hpp"

#include <optional>

namespace dlmb::record {

/// Throws Error naming the field if a figure is not finite.
[[nodiscard]] Json times_json(measure::TimeSummary const& time);
/// What versions before 1.2 do not have is 0.
[[nodiscard]] measure::TimeSummary times_from(Json const& object);

[[nodiscard]] Json rounds_json(measure::CellResult const& result);
/// Files before 1.2 hold the medians alone; what follows from them is computed again.
void read_rounds(Json const& object, measure::CellResult& result);

/// Null where there is no series.
[[nodiscard]] Json series_json(std::optional<measure::SampleSeries> const& series);
[[nodiscard]] std::optional<measure::SampleSeries> series_from(Json const& value);

template <class Value>
[[nodiscard]] Json or_null(std::optional<Value> const& value) {
    return value ? Json(*value) : Json(nullptr);
}
template <class Value>
[[nodiscard]] std::optional<Value> optional_from(Json const& object, char const* field) {
    auto const found = object.find(field);
    return found == object.end() || found->is_null() ? std::nullopt : std::optional(found->template get<Value>());
}

}  // namespace dlmb::record
