// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// The lines of a result file as text, and back. Fields are those of results-schema/result.schema.json; numbers have a
// point in every locale.
#pragma once

#include "common/record/json_fields.hpp"
#include "common/record/record.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace dlmb::record {

/// One line without its newline. Throws Error naming the field if a number is not finite.
[[nodiscard]] std::string to_json_line(Launch const& launch);
[[nodiscard]] std::string to_json_line(std::string_view launch_id, Record const& cell);
[[nodiscard]] std::string to_json_line(End const& end);

/// Throw nlohmann::json::exception or UsageError when a field is missing or has the wrong type.
[[nodiscard]] Launch launch_from(Json const& line);
[[nodiscard]] Record record_from(Json const& line);
[[nodiscard]] End end_from(Json const& line);

void fields(auto& io, Of<RankDevice> auto& device) {
    io("index", device.index);
    io("pci_bus_id", device.pci_bus_id);
    io("numa_node", device.numa_node);
    io("other_numa_node", device.other_numa_node);
    io("reason", device.reason);
}

/// Null without a calibration.
[[nodiscard]] Json calibration_json(std::optional<measure::Calibration> const& calibration);
[[nodiscard]] std::optional<measure::Calibration> calibration_from(Json const& value);

}  // namespace dlmb::record
