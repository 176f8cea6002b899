// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/tools/predict/fit.hpp"

#include "common/base/error.hpp"
#include "common/tools/predict/estimate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <string>
#include <tuple>

namespace dlmb::predict {
namespace {

// Some libraries count the header of a message, too (btl_vader_eager_limit of Open MPI is 4 KiB).
constexpr std::array eager_limits{4096.0, 4032.0, 8192.0, 16384.0, 65536.0};
// glibc maps buffers from 128 KiB on and keeps twice the largest one that it ever mapped, up to 32 MiB
// (M_MMAP_THRESHOLD and M_TRIM_THRESHOLD of mallopt(3)): then it gives pairs back after each call. Some libraries make
// it keep all.
struct FreshLimits {
    double one_bytes;   // Limits::fresh_bytes
    double pair_bytes;  // Limits::fresh_pair_bytes
};
constexpr std::array<FreshLimits, 3> fresh_limits{{{1 << 25, 1 << 17}, {1 << 25, 1 << 25}, {1 << 28, 1 << 28}}};
// A NIC that takes small messages with the command to send them has to fetch longer ones from memory. Slingshot's takes
// 192 bytes so (CXIP_INJECT_SIZE of libfabric, C_MAX_IDC_PAYLOAD_UNR); receivers are waited for from 2 or 16 KiB on
// (CXIP_RDZV_THRESHOLD).
constexpr double inject_limit = 192;
constexpr double least_gain = 0.98;  // of the error, of all sizes: a limit that helps less may be chance
constexpr std::size_t fewest_points = 10;
constexpr double possible = 0.6;          // times below this share of what its busiest links need are something else
constexpr double likely = 1.0 / 3;        // so are those below this share of what all its messages take
constexpr double near_the_largest = 0.8;  // node counts from this share of the largest one are left out together
constexpr double least_width = 0.05;
constexpr double least_octaves_apart = 2;  // between the factors of nodes that are left out
constexpr std::size_t fewest_of_a_width = 20;

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
    }
    return model;
}

/// `which`: what kind of measurements these are.
void require_points(std::vector<Measurement> const& measurements, std::string_view which) {
    if (measurements.size() < fewest_points) {
        throw UsageError(fmt::format("{} measurements {} are too few for a model; measure at least {}",
                                     measurements.size(), which, fewest_points));
    }
}

/// Whether a time is below `possible` of what the busiest links need, or, on a torus, below `likely` of all that the
/// messages of the name take. On networks that jobs share, latencies differ too much to tell, and what an
/// implementation over remote memory saves is not known.
bool is_too_fast(MachineModel const& model, Measurement const& measurement, LoadCache& cache) {
    auto const algorithm = algorithm_of(measurement.collective, measurement.algorithm);
    Terms const terms = terms_of(measurement, *algorithm, model.limits, cache);
    if (measurement.topology.ranks_per_node == 1 &&
        measurement.time_us < possible * contended_of(terms, model.best.parameters)) {
        return true;
    }
    return measurement.topology.kind == TopologyKind::torus && algorithm->set_up == SetUp::none &&
           measurement.time_us < likely * cost_of(terms, model.best.parameters, {}).total();
}

/// Without the times that no messages of their algorithm can have. Where that is so at two sizes or more of an
/// algorithm in a job, its name is contradicted from these nodes on: the library runs something else, such as Fujitsu's
/// linear broadcast, and nothing tells at which sizes it does not. Throws UsageError where too few are kept.
std::vector<Measurement> confirmed_ones(std::vector<Measurement> const& measurements, MachineModel& found,
                                        LoadCache& cache) {
    MachineModel const model = plain_fit(measurements, {}, cache);
    std::map<std::tuple<ImplementationKey, int, int, std::string>, std::set<double>> too_fast;
    auto const key = [](Measurement const& each) {
        return std::tuple(ImplementationKey{each.collective, each.algorithm}, each.topology.nodes(),
                          each.topology.ranks_per_node, each.job);
    };
    for (Measurement const& measurement : measurements) {
        if (is_too_fast(model, measurement, cache)) {
            too_fast[key(measurement)].insert(measurement.bytes);
        }
    }
    for (auto const& [of, sizes] : too_fast) {
        if (sizes.size() > 1) {
            found.contradicted.emplace(std::get<0>(of), std::get<1>(of));  // the fewest nodes come first
        }
    }
    std::vector<Measurement> kept;
    for (Measurement const& measurement : measurements) {
        ImplementationKey const name{measurement.collective, measurement.algorithm};
        auto const from = found.contradicted.find(name);
        auto const alone = too_fast.find(key(measurement));
        if ((from == found.contradicted.end() || measurement.topology.nodes() < from->second) &&
            (alone == too_fast.end() || !alone->second.contains(measurement.bytes))) {
            kept.push_back(measurement);
        } else {
            ++found.left_out[name];
        }
    }
    require_points(kept, "that are not faster than their messages can be");
    return kept;
}

/// Measurements that are left out: on some node counts, of algorithms that the others have as well.
struct Split {
    std::vector<Measurement> fitted;
    std::vector<Measurement> left_out;
    int most_fitted = 0;  // nodes, where these were left out
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
    std::vector<Split> upwards;  // fewer nodes are fitted, all of them
    std::vector<Split> farther;  // the largest are left out, and so are those before them
};

Splits splits_of(std::vector<Measurement> const& measurements) {
    std::set<int> counts;
    for (Measurement const& measurement : measurements) {
        counts.insert(measurement.topology.nodes());
    }
    int const largest = *counts.rbegin();
    int const least_of_largest = static_cast<int>(std::ceil(near_the_largest * largest));
    Splits splits;
    double octaves = 0;  // of the last split of the largest
    while (!counts.empty()) {
        int const most = *counts.rbegin();
        int const least = static_cast<int>(std::ceil(near_the_largest * most));
        for (bool const fits_more : {true, false}) {
            if (auto split = leave_out(measurements, least, most, fits_more)) {
                (fits_more ? splits.each : splits.upwards).push_back(std::move(*split));
            }
        }
        counts.erase(counts.lower_bound(least), counts.end());
        double const between = counts.empty() ? 0 : std::log2(static_cast<double>(largest) / *counts.rbegin());
        if (octaves > 0 && between >= octaves + least_octaves_apart) {
            std::vector<Measurement> few;
            std::copy_if(measurements.begin(), measurements.end(), std::back_inserter(few), [&](auto const& each) {
                return each.topology.nodes() <= *counts.rbegin() || each.topology.nodes() >= least_of_largest;
            });
            if (auto split = leave_out(few, least_of_largest, largest, false)) {
                splits.farther.push_back(std::move(*split));
                octaves = between;
            }
        } else if (octaves == 0) {
            octaves = between;
        }
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

/// The eager and fresh limits, without the correction, which can hide wrong ones.
Choice with_best_limits(std::vector<Split> const& splits, LoadCache& cache) {
    Choice best;
    Limits limits;
    double best_error = std::numeric_limits<double>::infinity();
    for (double const eager_bytes : eager_limits) {
        for (FreshLimits const& fresh : fresh_limits) {
            limits.eager_bytes = eager_bytes;
            limits.fresh_bytes = fresh.one_bytes;
            limits.fresh_pair_bytes = fresh.pair_bytes;
            double const error = error_on_left_out(splits, {limits, false}, cache);
            if (error < best_error) {
                best = {limits, false};
                best_error = error;
            }
        }
    }
    return best;
}

/// The limits whose errors on what was left out are the smallest.
Choice choose(std::vector<Split> const& splits, LoadCache& cache) {
    if (splits.empty()) {
        return {};
    }
    Choice best = with_best_limits(splits, cache);
    double best_error = least_gain * error_on_left_out(splits, best, cache);
    Choice injecting = best;
    injecting.limits.inject_bytes = inject_limit;
    for (double const eager_bytes : eager_limits) {
        injecting.limits.eager_bytes = eager_bytes;
        double const error = error_on_left_out(splits, injecting, cache);
        if (error < best_error) {
            best = injecting;
            best_error = error;
        }
    }
    Choice corrected = best;
    corrected.corrected = true;
    // Equal where what is left out has nothing near it that was fitted: nothing speaks against it.
    bool const worse = error_on_left_out(splits, corrected, cache) > error_on_left_out(splits, best, cache);
    return worse ? best : corrected;
}

/// 90 % of what is left of the residuals of a fit, jobs' own factors included, where near ones correct each other.
double width_of_residuals(MachineModel const& model) {
    std::vector<double> left;
    for (auto const& [implementation, residuals] : model.residuals) {
        for (Residual const& each : residuals) {
            double const correction = model.corrected ? correction_of(residuals, each.bytes, each.nodes) : 0;
            left.push_back(std::abs(each.log_ratio - correction));
        }
    }
    return std::max(least_width, quantile(std::move(left), 0.9));
}

/// The next of exchangeable values is not above it with a probability of 90 % (Lei et al. 2018, Distribution-free
/// predictive inference for regression): of n values the ceil(0.9 (n + 1))-th, the largest where there are fewer.
double conformal_quantile(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    std::size_t const place = (9 * (values.size() + 1) + 9) / 10;
    return values[std::min(place, values.size()) - 1];
}

/// A measurement that was left out, and how much wider than without more nodes its interval has to be.
struct LeftOut {
    double octaves;
    double square;  // of that width
};

std::vector<LeftOut> needs_of(Split const& split, MachineModel const& model, FitOptions const& options,
                              LoadCache& cache, std::map<Collective, std::vector<double>>& errors) {
    MachineModel few = plain_fit(split.fitted, model.limits, cache);
    few.dimensions = model.dimensions;
    few.corrected = model.corrected;
    few.width_inside = width_of_residuals(few);
    few.held_out_above = split.most_fitted;
    few.replicates = bootstrap(split.fitted, model.limits, options.replicates, cache);
    std::vector<LeftOut> needs;
    for (Measurement const& measurement : split.left_out) {
        auto const algorithm = algorithm_of(measurement.collective, measurement.algorithm);
        Prediction const prediction = predict(few, measurement, *algorithm, cache);
        double const error = std::log(prediction.time_us / measurement.time_us);
        errors[measurement.collective].push_back(std::abs(std::expm1(error)));
        needs.push_back({octaves_beyond(few, measurement),
                         std::pow(error, 2) - std::pow(std::log(prediction.high_us / prediction.time_us), 2)});
    }
    return needs;
}

/// For measurements of near octaves together, the width that 90 % of the next ones need (split conformal prediction,
/// Vovk et al. 2005, with nested intervals). These are on node counts of their own, and of those only `counts` were
/// left out: the next one is as far from them as they are from each other.
std::vector<WidthBeyond> widths_of(std::vector<LeftOut> needs, std::size_t counts, double least) {
    double const next_count = std::sqrt(1 + 1.0 / static_cast<double>(counts));
    std::sort(needs.begin(), needs.end(),
              [](auto const& left, auto const& right) { return left.octaves < right.octaves; });
    std::vector<WidthBeyond> widths;
    for (std::size_t first = 0; first < needs.size();) {
        std::size_t last = first;
        while (last < needs.size() &&
               (last - first < fewest_of_a_width || needs[last].octaves < needs[last - 1].octaves + 0.5)) {
            ++last;
        }
        last = needs.size() - last < fewest_of_a_width ? needs.size() : last;
        std::vector<double> squares;
        double octaves = 0;
        for (std::size_t at = first; at < last; ++at) {
            squares.push_back(needs[at].square);
            octaves += needs[at].octaves / static_cast<double>(last - first);
        }
        // An interval grows with the distance though these nodes did not show it.
        double const width = next_count * std::sqrt(std::max(least * least, conformal_quantile(std::move(squares))));
        widths.push_back({std::max(0.5, octaves), std::max(width, widths.empty() ? 0 : widths.back().width)});
        first = last;
    }
    return widths;
}

/// Errors of predictions on more nodes than were fitted, and the widths that they ask for.
void set_held_out(MachineModel& model, Splits const& splits, FitOptions const& options, LoadCache& cache) {
    std::map<Collective, std::vector<double>> by_collective;
    std::map<Collective, std::vector<double>> farther;
    std::vector<LeftOut> needs;
    auto const add = [&](std::vector<Split> const& all, std::map<Collective, std::vector<double>>& errors) {
        for (Split const& split : all) {
            auto const more = needs_of(split, model, options, cache, errors);
            needs.insert(needs.end(), more.begin(), more.end());
        }
    };
    add(splits.upwards, by_collective);
    add(splits.farther, farther);
    model.held_out_above = splits.upwards.front().most_fitted;
    for (Split const& split : splits.upwards) {
        model.held_out_above = std::min(model.held_out_above, split.most_fitted);
    }
    for (auto const& [collective, values] : by_collective) {
        model.held_out[collective] = {static_cast<int>(values.size()), quantile(values, 0.5), quantile(values, 0.9)};
    }
    model.width_beyond = widths_of(std::move(needs), splits.upwards.size(), model.width_inside);
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
    require_points(measurements, "of algorithms whose messages are known");
    for (Measurement const& measurement : measurements) {
        if (measurement.topology.kind != measurements.front().topology.kind) {
            throw UsageError(
                "some measurements have nodes with a shape (4x4x4) and some without; give all of one kind");
        }
    }
    int dimensions = 0;
    for (Measurement const& measurement : measurements) {
        std::vector<int> const& shape = measurement.topology.shape;
        auto const wide = std::count_if(shape.begin(), shape.end(), [](int extent) { return extent > 1; });
        dimensions =
            measurement.topology.kind == TopologyKind::torus ? std::max(dimensions, static_cast<int>(wide)) : 0;
    }
    for (Measurement& measurement : measurements) {
        measurement.topology.machine_dimensions = dimensions;
    }
    MachineModel confirmed;
    measurements = confirmed_ones(measurements, confirmed, cache);
    Splits const splits = splits_of(measurements);
    Choice const choice = choose(splits.each, cache);
    MachineModel model = plain_fit(measurements, choice.limits, cache);
    model.contradicted = std::move(confirmed.contradicted);
    model.left_out = std::move(confirmed.left_out);
    model.dimensions = dimensions;
    model.corrected = choice.corrected;
    model.width_inside = width_of_residuals(model);
    if (!splits.upwards.empty()) {
        set_held_out(model, splits, options, cache);
    }
    model.replicates = bootstrap(measurements, choice.limits, options.replicates, cache);
    return model;
}

}  // namespace dlmb::predict
