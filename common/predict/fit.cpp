// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/predict/fit.hpp"

#include "common/base/error.hpp"
#include "common/predict/estimate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>
#include <set>

namespace dlmb::predict {
namespace {

constexpr std::array eager_limits{4096.0, 8192.0, 16384.0, 65536.0};
constexpr std::array fresh_limits{double{1 << 25}, double{1 << 28}};  // glibc's largest M_MMAP_THRESHOLD, and beyond
constexpr std::size_t fewest_points = 10;
constexpr double near_the_largest = 0.8;  // node counts from this share of the largest one are left out together
// Without two node counts nothing can be left out: 90 % of predictions lie within a factor of e^0.5 three octaves on,
// an assumption that is stated in the model file by held_out_above = 0.
constexpr double assumed_width = 0.5;
constexpr double least_width = 0.05;
constexpr double least_growth = 1.25;  // of the width, from where the model was fitted to where it was not

std::vector<double> log_errors(MachineModel const& model, std::vector<Measurement> const& questions, LoadCache& cache) {
    std::vector<double> errors;
    for (Measurement const& question : questions) {
        auto const algorithm = algorithm_of(question.collective, question.algorithm);
        errors.push_back(std::log(predict(model, question, *algorithm, cache).time_us / question.time_us));
    }
    return errors;
}

std::vector<double> sizes_of(std::vector<double> errors) {
    for (double& error : errors) {
        error = std::abs(error);
    }
    return errors;
}

/// The fit alone: no choices, no errors, no replicates.
MachineModel plain_fit(std::vector<Measurement> const& measurements, Limits limits, LoadCache& cache) {
    Estimate found = estimate(measurements, limits, cache);
    MachineModel model;
    model.system = measurements.front().system;
    model.kind = measurements.front().topology.kind;
    model.limits = limits;
    model.jobs = found.jobs;
    model.job_spread = found.job_spread;
    model.best = std::move(found.coefficients);
    model.residuals = std::move(found.residuals);
    model.points = static_cast<int>(measurements.size());
    model.fewest_nodes = model.most_nodes = measurements.front().topology.nodes();
    model.fewest_bytes = model.most_bytes = measurements.front().bytes;
    for (Measurement const& measurement : measurements) {
        model.fewest_nodes = std::min(model.fewest_nodes, measurement.topology.nodes());
        model.most_nodes = std::max(model.most_nodes, measurement.topology.nodes());
        model.fewest_bytes = std::min(model.fewest_bytes, measurement.bytes);
        model.most_bytes = std::max(model.most_bytes, measurement.bytes);
        model.processors = std::max(model.processors, measurement.processors);
    }
    return model;
}

/// Without those that are faster than the links of a torus: the library ran something else than the name says, such as
/// Fujitsu's linear broadcast on few nodes, which takes the times of its tree over all links.
std::vector<Measurement> possible_ones(std::vector<Measurement> const& measurements, LoadCache& cache) {
    if (measurements.front().topology.kind != TopologyKind::torus) {
        return measurements;
    }
    MachineModel const model = plain_fit(measurements, {}, cache);
    std::vector<Measurement> kept;
    for (Measurement const& measurement : measurements) {
        auto const algorithm = algorithm_of(measurement.collective, measurement.algorithm);
        Terms const terms = terms_of(measurement, *algorithm, model.limits, cache);
        if (measurement.time_us >= possible * contended_of(terms, model.best.parameters)) {
            kept.push_back(measurement);
        }
    }
    return kept;
}

/// Measurements on the node counts that are left out, of algorithms that the others have as well.
struct Split {
    std::vector<Measurement> fitted;
    std::vector<Measurement> left_out;
    int most_fitted = 0;  // nodes
};

/// Leaves out from_nodes to to_nodes; more nodes are fitted, or are in neither part.
std::optional<Split> leave_out(std::vector<Measurement> const& measurements, int from_nodes, int to_nodes,
                               bool fits_more) {
    Split split;
    std::set<ImplementationKey> seen;
    auto const out = [&](Measurement const& measurement) {
        return measurement.topology.nodes() >= from_nodes && measurement.topology.nodes() <= to_nodes;
    };
    for (Measurement const& measurement : measurements) {
        if (!out(measurement) && (fits_more || measurement.topology.nodes() < from_nodes)) {
            split.fitted.push_back(measurement);
            split.most_fitted = std::max(split.most_fitted, measurement.topology.nodes());
            seen.insert({measurement.collective, measurement.algorithm});
        }
    }
    for (Measurement const& measurement : measurements) {
        if (out(measurement) && seen.contains({measurement.collective, measurement.algorithm})) {
            split.left_out.push_back(measurement);
        }
    }
    if (split.fitted.size() < fewest_points || split.left_out.size() < fewest_points) {
        return std::nullopt;
    }
    return split;
}

/// One split for each node count, near ones together.
struct Splits {
    std::vector<Split> each;     // all others are fitted
    std::vector<Split> upwards;  // fewer nodes are fitted
};

Splits splits_of(std::vector<Measurement> const& measurements) {
    std::set<int> counts;
    for (Measurement const& measurement : measurements) {
        counts.insert(measurement.topology.nodes());
    }
    Splits splits;
    while (!counts.empty()) {
        int const most = *counts.rbegin();
        int const least = static_cast<int>(std::ceil(near_the_largest * most));
        for (bool const fits_more : {true, false}) {
            if (auto split = leave_out(measurements, least, most, fits_more)) {
                (fits_more ? splits.each : splits.upwards).push_back(std::move(*split));
            }
        }
        counts.erase(counts.lower_bound(least), counts.end());
    }
    return splits;
}

struct Choice {
    Limits limits;
    bool corrected = true;
};

double error_on_left_out(std::vector<Split> const& splits, Choice const& choice, LoadCache& cache) {
    double sum = 0;
    for (Split const& split : splits) {
        MachineModel model = plain_fit(split.fitted, choice.limits, cache);
        model.corrected = choice.corrected;
        auto const sizes = sizes_of(log_errors(model, split.left_out, cache));
        sum = std::accumulate(sizes.begin(), sizes.end(), sum);
    }
    return sum;
}

/// The choice whose errors on node counts that were left out are the smallest. The limits have to prove themselves
/// without the correction, which can hide wrong ones.
Choice choose(std::vector<Split> const& splits, LoadCache& cache) {
    Choice best;
    double best_error = std::numeric_limits<double>::infinity();
    for (double const eager_bytes : eager_limits) {
        for (double const fresh_bytes : fresh_limits) {
            Choice const choice{{eager_bytes, fresh_bytes}, false};
            double const error = error_on_left_out(splits, choice, cache);
            if (error < best_error) {
                best = choice;
                best_error = error;
            }
        }
    }
    best.corrected = true;
    best.corrected = error_on_left_out(splits, best, cache) < best_error;
    return best;
}

/// Errors of predictions on more nodes than were fitted, and the width that holds 90 % of them.
void set_held_out(MachineModel& model, std::vector<Split> const& upwards, LoadCache& cache) {
    std::vector<double> all;
    std::map<Collective, std::vector<double>> by_collective;
    double octaves = 0;
    model.held_out_above = upwards.front().most_fitted;
    for (Split const& split : upwards) {
        MachineModel few = plain_fit(split.fitted, model.limits, cache);
        few.corrected = model.corrected;
        auto const errors = log_errors(few, split.left_out, cache);
        all.insert(all.end(), errors.begin(), errors.end());
        for (std::size_t index = 0; index < errors.size(); ++index) {
            Measurement const& measurement = split.left_out[index];
            by_collective[measurement.collective].push_back(std::abs(std::expm1(errors[index])));
            octaves += std::log2(static_cast<double>(measurement.topology.nodes()) / split.most_fitted);
        }
        model.held_out_above = std::min(model.held_out_above, split.most_fitted);
    }
    for (auto const& [collective, values] : by_collective) {
        model.held_out[collective] = {static_cast<int>(values.size()), quantile(values, 0.5), quantile(values, 0.9)};
    }
    model.width_outside = quantile(sizes_of(all), 0.9);
    model.octaves_outside = std::max(1.0, octaves / static_cast<double>(all.size()));
}

}  // namespace

double quantile(std::vector<double> values, double share) {
    if (values.empty()) {
        return 0;
    }
    std::sort(values.begin(), values.end());
    double const place = share * static_cast<double>(values.size() - 1);
    auto const below = static_cast<std::size_t>(place);
    auto const above = std::min(below + 1, values.size() - 1);
    return values[below] + (place - static_cast<double>(below)) * (values[above] - values[below]);
}

MachineModel fit(std::vector<Measurement> const& all, FitOptions const& options, LoadCache& cache) {
    std::vector<Measurement> measurements;
    for (Measurement const& measurement : all) {
        if (measurement.time_us > 0 && algorithm_of(measurement.collective, measurement.algorithm)) {
            measurements.push_back(measurement);
        }
    }
    if (measurements.size() < fewest_points) {
        throw UsageError(fmt::format(
            "{} measurements of algorithms whose messages are known are too few for a model; measure at least {}",
            measurements.size(), fewest_points));
    }
    for (Measurement const& measurement : measurements) {
        if (measurement.topology.kind != measurements.front().topology.kind) {
            throw UsageError(
                "some measurements have nodes with a shape (4x4x4) and some without; give all of one kind");
        }
    }
    measurements = possible_ones(measurements, cache);
    Splits const splits = splits_of(measurements);
    Choice const choice = splits.each.empty() ? Choice{} : choose(splits.each, cache);
    MachineModel model = plain_fit(measurements, choice.limits, cache);
    model.corrected = choice.corrected;
    model.width_inside = std::max(least_width, quantile(sizes_of(log_errors(model, measurements, cache)), 0.9));
    model.width_outside = assumed_width;
    if (!splits.upwards.empty()) {
        set_held_out(model, splits.upwards, cache);
    }
    model.width_outside = std::max(model.width_outside, least_growth * width_where_fitted(model));
    model.replicates = bootstrap(measurements, choice.limits, options.replicates, cache);
    return model;
}

}  // namespace dlmb::predict
