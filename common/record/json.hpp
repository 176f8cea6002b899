// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// The lines of a result file as text, and back. Field names are those of results-schema/result.schema.json; numbers are
// written with a point in every locale, and only finite ones.
#pragma once

#include "common/record/record.hpp"

#include <string>
#include <string_view>

namespace dlmb::record {

/// One line without its newline. Throws Error naming the field if a time or a traffic figure is not finite.
[[nodiscard]] std::string to_json_line(Launch const& launch);
[[nodiscard]] std::string to_json_line(std::string_view launch_id, Record const& cell);
[[nodiscard]] std::string to_json_line(End const& end);

/// "passed", "failed" or "off".
[[nodiscard]] std::string_view verdict_name(measure::Verdict verdict);

/// What a percentile in time_ns is taken over.
inline constexpr char const* time_axis = "max over ranks per iteration";

}  // namespace dlmb::record
