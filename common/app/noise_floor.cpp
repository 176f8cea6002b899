// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/app/noise_floor.hpp"

#include "common/measure/statistics/detection.hpp"
#include "common/measure/statistics/order_statistics.hpp"
#include "common/record/json.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

namespace dlmb::app {
namespace {

constexpr std::array<std::size_t, 4> launches_per_side{5, 8, 12, 16};
constexpr double power = 0.8;
// Margins of dlmb_compare: what is shorter than 50 us is held to less, and so is what differs from itself.
constexpr double short_cell_ns = 50'000;
constexpr double margin_of_short_cells = 0.05;
constexpr double margin_of_long_cells = 0.03;

constexpr double times_own_difference = 2;

double margin_for(RepeatedCell const& cell, double median_ns) {
    double const own = cell.own_differences.empty() ? 0 : measure::median(cell.own_differences);
    double const usual = !cell.stream && median_ns < short_cell_ns ? margin_of_short_cells : margin_of_long_cells;
    return std::max(usual, times_own_difference * own);
}

/// Simulated once for each number of launches, whatever the number of cells.
class Detections {
public:
    std::optional<double> least_slowdown(std::size_t launches, double margin, double spread) {
        return known_.try_emplace(launches, launches).first->second.least_slowdown(spread, margin, power);
    }

private:
    std::map<std::size_t, measure::Detection> known_;
};

InfoJson describe(RepeatedCell const& cell, Detections& detections) {
    double const median_ns = measure::median(cell.medians_ns);
    double const spread = measure::log_spread(cell.medians_ns);
    double const margin = margin_for(cell, median_ns);
    InfoJson json{{"cell", cell.name},
                  {"median_ns", median_ns},
                  {"repetitions", cell.medians_ns.size()},
                  {"spread", spread},
                  {"spread_at_most", spread * measure::spread_bound(cell.medians_ns.size())},
                  {"margin", margin},
                  {"least_slowdown", InfoJson::object()}};
    for (std::size_t const launches : launches_per_side) {
        auto const least = detections.least_slowdown(launches, margin, spread);
        json["least_slowdown"][std::to_string(launches)] = least ? InfoJson(*least) : InfoJson(nullptr);
    }
    return json;
}

}  // namespace

void RepeatedCell::add(measure::CellResult const& result) {
    medians_ns.push_back(result.median_of_rounds_ns);
    if (result.aa_ratio) {
        own_differences.push_back(std::abs(*result.aa_ratio - 1));
    }
}

InfoJson noise_json(NoiseFloor const& floor) {
    Detections detections;
    InfoJson json{{"calibration", record::calibration_json(floor.calibration)},
                  {"spread_is", floor.between_launches ? "between launches" : "within one launch"},
                  {"power", power},
                  {"alpha", measure::usual_alpha},
                  {"cells", InfoJson::array()},
                  {"remarks", floor.remarks}};
    for (RepeatedCell const& cell : floor.cells) {
        json["cells"].push_back(describe(cell, detections));
    }
    return json;
}

}  // namespace dlmb::app
