// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/tools/predict/measurements.hpp"

#include "common/base/error.hpp"
#include "common/base/units.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <type_traits>

namespace dlmb::predict {
namespace {

constexpr std::array required_columns{"system", "nodes", "collective", "algorithm", "bytes"};
constexpr std::string_view time_column = "median_us";

using Columns = std::vector<std::string_view>;

Columns columns_of(std::string_view header, std::string_view name, bool needs_times) {
    Columns columns = split(header, ",");
    Columns needed(required_columns.begin(), required_columns.end());
    needed.insert(needed.end(), needs_times ? 1 : 0, time_column);
    for (std::string_view const column : needed) {
        if (std::find(columns.begin(), columns.end(), column) == columns.end()) {
            throw UsageError(
                fmt::format("{}: line 1: no column {}; the first line must name system, nodes, collective, "
                            "algorithm and bytes, and median_us where times are needed",
                            name, column));
        }
    }
    for (std::string_view const column : columns) {
        if (std::count(columns.begin(), columns.end(), column) > 1) {
            throw UsageError(fmt::format("{}: line 1: column {} stands twice", name, column));
        }
    }
    return columns;
}

class Cells {
public:
    Cells(std::string_view line, Columns const& columns) : columns_(columns), cells_(split(line, ",")) {
        if (cells_.size() != columns.size()) {
            throw UsageError(
                fmt::format("{} cells where the first line names {} columns", cells_.size(), columns.size()));
        }
    }
    /// `otherwise`: where the table has no such column.
    [[nodiscard]] std::string_view at(std::string_view column, std::string_view otherwise = "") const {
        auto const found = std::find(columns_.begin(), columns_.end(), column);
        return found == columns_.end() ? otherwise : cells_[static_cast<std::size_t>(found - columns_.begin())];
    }
    template <class Number>
    [[nodiscard]] Number number(std::string_view column, Number least, Number most, std::string_view otherwise) const {
        auto const number = parse_whole<Number>(at(column, otherwise));
        if (!number || *number < least || *number > most) {
            throw UsageError(fmt::format("{} '{}' is no {} from {} to {}", column, at(column),
                                         std::is_integral_v<Number> ? "whole number" : "number", least, most));
        }
        return *number;
    }

private:
    Columns const& columns_;
    Columns cells_;
};

TableLine read_line(std::string_view text, Columns const& columns, bool needs_times) {
    Cells const cells(text, columns);
    TableLine line{std::string{text}, {}, {}};
    Measurement& measurement = line.measurement;
    measurement.system = cells.at("system");
    measurement.algorithm = cells.at("algorithm");
    measurement.topology = parse_nodes(cells.at("nodes"));
    measurement.bytes = static_cast<double>(cells.number<Bytes>("bytes", 0, Bytes{1} << 50, ""));
    measurement.topology.ranks_per_node = cells.number("ranks_per_node", 1, 1024, "1");
    measurement.job = cells.at("campaign");
    if (needs_times) {
        measurement.time_us = cells.number(time_column, 1e-6, 1e15, "");
    }
    if (auto const collective = collective_named(cells.at("collective"))) {
        measurement.collective = *collective;
    } else {
        line.unusable = "refused: unknown collective";
        return line;
    }
    if (measurement.topology.kind == TopologyKind::torus && measurement.topology.ranks_per_node == 1) {
        measurement.algorithm =
            name_by_messages(measurement.collective, measurement.algorithm, measurement.topology.shape);
    }
    if (cells.at("gpu") == "yes") {
        line.unusable = "refused: buffers on GPUs are not modelled";
    } else if (!algorithm_of(measurement.collective, measurement.algorithm)) {
        line.unusable = "unknown algorithm";
    }
    return line;
}

std::string_view without_return(std::string_view line) {
    return line.ends_with('\r') ? line.substr(0, line.size() - 1) : line;
}

}  // namespace

MeasurementTable read_measurements(std::string_view text, std::string_view name, bool needs_times) {
    constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";
    if (text.starts_with(byte_order_mark)) {
        text.remove_prefix(byte_order_mark.size());
    }
    auto const lines = split(text, "\n");
    MeasurementTable table;
    table.header = without_return(lines.front());
    Columns const columns = columns_of(table.header, name, needs_times);
    for (std::size_t index = 1; index < lines.size(); ++index) {
        std::string_view const line = without_return(lines[index]);
        if (line.empty()) {
            continue;
        }
        try {
            table.lines.push_back(read_line(line, columns, needs_times));
        } catch (UsageError const& error) {
            throw UsageError(fmt::format("{}: line {}: {}", name, index + 1, error.what()));
        }
    }
    if (table.lines.empty()) {
        throw UsageError(fmt::format("{}: no line below the names of the columns", name));
    }
    return table;
}

}  // namespace dlmb::predict
