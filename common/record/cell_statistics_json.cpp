// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/record/cell_statistics_json.hpp"

#include "common/measure/statistics/order_statistics.hpp"

namespace dlmb::record {

Json times_json(measure::TimeSummary const& time) {
    return {{"median", finite(time.median, "median")},
            {"median_low", finite(time.median_low, "median_low")},
            {"median_high", finite(time.median_high, "median_high")},
            {"min", finite(time.min, "min")},
            {"q1", finite(time.q1, "q1")},
            {"q3", finite(time.q3, "q3")},
            {"p90", finite(time.p90, "p90")},
            {"p95", finite(time.p95, "p95")},
            {"p99", time.p99 ? finite(*time.p99, "p99") : Json(nullptr)},
            {"max", finite(time.max, "max")},
            {"mean", finite(time.mean, "mean")},
            {"mad", finite(time.mad, "mad")},
            {"iqr", finite(time.q3 - time.q1, "iqr")},
            {"outliers", time.outliers},
            {"samples", time.samples}};
}

measure::TimeSummary times_from(Json const& object) {
    measure::TimeSummary time;
    time.samples = object.at("samples");
    time.median = object.at("median");
    time.median_low = object.at("median_low");
    time.median_high = object.at("median_high");
    time.min = object.at("min");
    time.max = object.at("max");
    time.mean = object.at("mean");
    time.q1 = object.value("q1", 0.0);
    time.q3 = object.value("q3", 0.0);
    time.p90 = object.value("p90", 0.0);
    time.p95 = object.at("p95");
    time.p99 = optional_from<double>(object, "p99");
    time.mad = object.value("mad", 0.0);
    time.outliers = object.value("outliers", std::uint64_t{0});
    return time;
}

Json rounds_json(measure::CellResult const& result) {
    return {{"medians_ns", finite_list(result.round_medians_ns, "rounds.medians_ns")},
            {"median_of_rounds_ns", result.round_medians_ns.empty()
                                        ? Json(nullptr)
                                        : finite(result.median_of_rounds_ns, "rounds.median_of_rounds_ns")},
            {"aa_ratio", or_null(result.aa_ratio)}};
}

void read_rounds(Json const& object, measure::CellResult& result) {
    result.round_medians_ns = object.at("medians_ns").get<std::vector<double>>();
    if (!result.round_medians_ns.empty()) {
        result.median_of_rounds_ns = measure::median(result.round_medians_ns);
        result.aa_ratio = measure::aa_ratio(result.round_medians_ns);
    }
}

Json series_json(std::optional<measure::SampleSeries> const& series) {
    if (!series) {
        return nullptr;
    }
    return {{"lag1", finite(series->lag1, "series.lag1")},
            {"ess", finite(series->effective_samples, "series.ess")},
            {"drift", finite(series->drift, "series.drift")},
            {"step_at", series->step_at}};
}

std::optional<measure::SampleSeries> series_from(Json const& value) {
    if (value.is_null()) {
        return std::nullopt;
    }
    return measure::SampleSeries{value.at("lag1"), value.at("ess"), value.at("drift"), value.at("step_at")};
}

}  // namespace dlmb::record
