// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/tools/predict/measurements.hpp"

#include "common/base/error.hpp"
#include "common/base/units.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace dlmb::predict {
namespace {

constexpr int most_ranks_per_node = 1024;
constexpr std::size_t absent = static_cast<std::size_t>(-1);

class Columns {
public:
    Columns(std::string_view header, std::string_view name) : names_(split(header, ",")), file_(name) {}

    [[nodiscard]] std::size_t find(std::string_view column) const {
        auto const found = std::find(names_.begin(), names_.end(), column);
        if (found != names_.end() && std::find(found + 1, names_.end(), column) != names_.end()) {
            throw UsageError(fmt::format("{}: line 1: column {} stands twice", file_, column));
        }
        return found == names_.end() ? absent : static_cast<std::size_t>(found - names_.begin());
    }
    [[nodiscard]] std::size_t need(std::string_view column) const {
        std::size_t const place = find(column);
        if (place == absent) {
            throw UsageError(
                fmt::format("{}: line 1: no column {}; the first line must name system, nodes, collective, "
                            "algorithm and bytes, and median_us where times are needed",
                            file_, column));
        }
        return place;
    }
    [[nodiscard]] std::size_t count() const { return names_.size(); }

private:
    std::vector<std::string_view> names_;
    std::string_view file_;
};

template <class Number>
Number number_of(std::string_view text, std::string_view column, Number least, Number most) {
    auto const number = parse_whole<Number>(text);
    if (!number || *number < least || *number > most) {
        throw UsageError(fmt::format("{} '{}' is no number from {} to {}", column, text, least, most));
    }
    return *number;
}

struct ColumnNumbers {
    std::size_t system, nodes, collective, algorithm, bytes, ranks_per_node, gpu, time, campaign;
};

TableLine read_line(std::string_view text, Columns const& columns, ColumnNumbers const& numbers, bool needs_times) {
    auto const cells = split(text, ",");
    if (cells.size() != columns.count()) {
        throw UsageError(fmt::format("{} cells where the first line names {} columns", cells.size(), columns.count()));
    }
    TableLine line{std::string{text}, {}, {}};
    Measurement& measurement = line.measurement;
    measurement.system = cells[numbers.system];
    measurement.algorithm = cells[numbers.algorithm];
    measurement.topology = parse_nodes(cells[numbers.nodes]);
    measurement.bytes = static_cast<double>(number_of<Bytes>(cells[numbers.bytes], "bytes", 0, Bytes{1} << 50));
    if (numbers.ranks_per_node != absent) {
        measurement.topology.ranks_per_node =
            number_of(cells[numbers.ranks_per_node], "ranks_per_node", 1, most_ranks_per_node);
    }
    if (numbers.campaign != absent) {
        measurement.job = cells[numbers.campaign];
    }
    if (needs_times) {
        measurement.time_us = number_of(cells[numbers.time], "median_us", 1e-6, 1e15);
    }
    if (auto const collective = collective_of(cells[numbers.collective])) {
        measurement.collective = *collective;
    } else {
        line.unusable = "refused: unknown collective";
        return line;
    }
    if (measurement.topology.kind == TopologyKind::torus && measurement.topology.ranks_per_node == 1) {
        measurement.algorithm =
            name_by_messages(measurement.collective, measurement.algorithm, measurement.topology.shape);
    }
    if (numbers.gpu != absent && cells[numbers.gpu] == "yes") {
        line.unusable = "refused: buffers on GPUs are not modelled";
    } else if (!algorithm_of(measurement.collective, measurement.algorithm)) {
        line.unusable = unknown_algorithm;
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
    Columns const columns(table.header, name);
    ColumnNumbers const numbers{columns.need("system"),     columns.need("nodes"),
                                columns.need("collective"), columns.need("algorithm"),
                                columns.need("bytes"),      columns.find("ranks_per_node"),
                                columns.find("gpu"),        needs_times ? columns.need("median_us") : absent,
                                columns.find("campaign")};
    for (std::size_t index = 1; index < lines.size(); ++index) {
        std::string_view const line = without_return(lines[index]);
        if (line.empty()) {
            continue;
        }
        try {
            table.lines.push_back(read_line(line, columns, numbers, needs_times));
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
