// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/tools/predict/fit.hpp"

#include "common/base/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
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
    Terms const terms = terms_of(measurement, model.limits, cache);
    if (measurement.topology.ranks_per_node == 1 &&
        measurement.time_us < possible * times_of(terms, model.best.parameters)[index_of(Parameter::byte)]) {
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
    MachineModel const model = estimate(measurements, {}, cache);
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

/// Leaves out from_nodes to to_nodes, and fits the others on up to `most_fitted`; more nodes are in neither part.
/// False: too few for a split.
bool leave_out(std::vector<Measurement> const& measurements, int from_nodes, int to_nodes, int most_fitted,
               std::vector<Split>& splits) {
    Split split;
    std::set<ImplementationKey> seen;
    auto const out = [&](Measurement const& measurement) {
        return measurement.topology.nodes() >= from_nodes && measurement.topology.nodes() <= to_nodes;
    };
    for (Measurement const& measurement : measurements) {
        if (!out(measurement) && measurement.topology.nodes() <= most_fitted) {
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
    bool const enough = split.fitted.size() >= fewest_points && split.left_out.size() >= fewest_points;
    if (enough) {
        splits.push_back(std::move(split));
    }
    return enough;
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
    auto const least_near = [](int most) { return static_cast<int>(std::ceil(near_the_largest * most)); };
    Splits splits;
    double octaves = 0;  // from the largest down to those that the last split of `farther` fits
    while (!counts.empty()) {
        int const most = *counts.rbegin();
        int const least = least_near(most);
        double const below = std::log2(static_cast<double>(largest) / most);
        leave_out(measurements, least, most, std::numeric_limits<int>::max(), splits.each);
        leave_out(measurements, least, most, least - 1, splits.upwards);
        if (octaves == 0 || (below >= octaves + least_octaves_apart &&
                             leave_out(measurements, least_near(largest), largest, most, splits.farther))) {
            octaves = below;
        }
        counts.erase(counts.lower_bound(least), counts.end());
    }
    return splits;
}

struct FitChoice {
    Limits limits;
    bool corrected = true;
};

double error_on_left_out(std::vector<Split> const& splits, FitChoice const& choice, LoadCache& cache) {
    double sum = 0;
    for (Split const& split : splits) {
        MachineModel model = estimate(split.fitted, choice.limits, cache);
        model.corrected = choice.corrected;
        for (Measurement const& each : split.left_out) {
            sum += std::abs(std::log(predict(model, each, cache).time_us / each.time_us));
        }
    }
    return sum;
}

/// The limits whose errors on what was left out are the smallest, found without the correction, which can hide wrong
/// ones.
FitChoice choose(std::vector<Split> const& splits, LoadCache& cache) {
    if (splits.empty()) {
        return {};
    }
    FitChoice best;
    double best_error = std::numeric_limits<double>::infinity();
    auto const consider = [&](Limits const& limits) {
        double const error = error_on_left_out(splits, {limits, false}, cache);
        if (error < best_error) {
            best = {limits, false};
            best_error = error;
        }
    };
    for (double const eager_bytes : eager_limits) {
        for (FreshLimits const& fresh : fresh_limits) {
            consider({eager_bytes, fresh.one_bytes, fresh.pair_bytes});
        }
    }
    Limits injecting = best.limits;
    injecting.inject_bytes = inject_limit;
    best_error *= least_gain;
    for (double const eager_bytes : eager_limits) {
        injecting.eager_bytes = eager_bytes;
        consider(injecting);
    }
    FitChoice const corrected{best.limits, true};
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

/// A measurement that was left out, how far it was from its prediction, and how much wider than without more nodes the
/// interval has to be.
struct LeftOut {
    OperationKind collective;
    double error;  // |predicted / measured - 1|
    double octaves;
    double square;  // of that width
};

void add_left_out(Split const& split, MachineModel const& model, int replicates, LoadCache& cache,
                  std::vector<LeftOut>& found) {
    MachineModel few = estimate(split.fitted, model.limits, cache, replicates);
    few.corrected = model.corrected;
    few.width_inside = width_of_residuals(few);
    few.held_out_above = split.most_fitted;
    for (Measurement const& measurement : split.left_out) {
        Prediction const prediction = predict(few, measurement, cache);
        double const error = std::log(prediction.time_us / measurement.time_us);
        found.push_back({measurement.collective, std::abs(std::expm1(error)), octaves_beyond(few, measurement),
                         std::pow(error, 2) - std::pow(std::log(prediction.high_us / prediction.time_us), 2)});
    }
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

double octaves_left_out(Splits const& splits) {
    double octaves = 0;
    for (std::vector<Split> const* const some : {&splits.upwards, &splits.farther}) {
        for (Split const& split : *some) {
            for (Measurement const& each : split.left_out) {
                octaves = std::max(octaves, std::log2(static_cast<double>(each.topology.nodes()) / split.most_fitted));
            }
        }
    }
    return octaves;
}

/// Errors of predictions on more nodes than were fitted, and the widths that they ask for.
void set_held_out(MachineModel& model, Splits const& splits, int replicates, LoadCache& cache) {
    std::vector<LeftOut> left_out;
    model.octaves_left_out = octaves_left_out(splits);
    model.held_out_above = splits.upwards.front().most_fitted;
    for (Split const& split : splits.upwards) {
        add_left_out(split, model, replicates, cache, left_out);
        model.held_out_above = std::min(model.held_out_above, split.most_fitted);
    }
    std::map<OperationKind, std::vector<double>> errors;
    for (LeftOut const& each : left_out) {
        errors[each.collective].push_back(each.error);
    }
    for (auto const& [collective, values] : errors) {
        model.held_out[collective] = {static_cast<int>(values.size()), quantile(values, 0.5), quantile(values, 0.9)};
    }
    for (Split const& split : splits.farther) {
        add_left_out(split, model, replicates, cache, left_out);
    }
    model.width_beyond = widths_of(std::move(left_out), splits.upwards.size(), model.width_inside);
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

std::pair<double, double> range_of(MachineModel const& model, std::size_t parameter) {
    std::vector<double> values;
    for (Coefficients const& replicate : model.replicates) {
        values.push_back(std::exp(replicate.parameters[parameter]));
    }
    if (values.empty()) {
        values.push_back(std::exp(model.best.parameters[parameter]));
    }
    return {quantile(values, 0.05), quantile(values, 0.95)};
}

MachineModel fit(std::vector<Measurement> const& all, LoadCache& cache, int replicates) {
    std::vector<Measurement> measurements;
    for (Measurement const& measurement : all) {
        if (measurement.time_us > 0 && algorithm_of(measurement.collective, measurement.algorithm)) {
            measurements.push_back(measurement);
        }
    }
    require_points(measurements, "of algorithms whose messages are known");
    int dimensions = 0;
    for (Measurement const& measurement : measurements) {
        Topology const& topology = measurement.topology;
        if (topology.kind != measurements.front().topology.kind) {
            throw UsageError(
                "some measurements have nodes with a shape (4x4x4) and some without; give all of one kind");
        }
        int const wide = topology.kind == TopologyKind::torus ? wide_dimensions_of(topology.shape) : 0;
        dimensions = std::max(dimensions, wide);
    }
    for (Measurement& measurement : measurements) {
        measurement.topology.machine_dimensions = dimensions;
    }
    MachineModel confirmed;
    measurements = confirmed_ones(measurements, confirmed, cache);
    Splits const splits = splits_of(measurements);
    FitChoice const choice = choose(splits.each, cache);
    MachineModel model = estimate(measurements, choice.limits, cache, replicates);
    model.contradicted = std::move(confirmed.contradicted);
    model.left_out = std::move(confirmed.left_out);
    model.corrected = choice.corrected;
    model.width_inside = width_of_residuals(model);
    if (!splits.upwards.empty()) {
        set_held_out(model, splits, replicates, cache);
    }
    return model;
}

}  // namespace dlmb::predict
