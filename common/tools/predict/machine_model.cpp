// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/tools/predict/machine_model.hpp"

#include "common/base/error.hpp"
#include "common/tools/predict/network/torus.hpp"

#include <fmt/format.h>

#include <Eigen/Dense>
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <limits>

namespace dlmb::predict {
namespace {

constexpr double z_of_90_percent = 1.645;  // normal distribution, two sides
constexpr double largest_answered_error = 0.4;
constexpr int most_ranks = 1 << 17;
// An error is known for the octaves of nodes that were left out; a model answers two more, and three where it has none.
constexpr double octaves_answered_beyond_tested = 2;
constexpr double fewest_octaves_answered = 3;
constexpr double rounding_of_octaves = 1e-4;  // in a file they have six digits
constexpr double near_octaves_of_bytes = 3;

// The correction: how far residuals at other sizes and node counts matter, and how much of one is chance.
constexpr double octaves_of_bytes = 4;
constexpr double octaves_of_nodes = 8;
constexpr double chance = 0.25;
constexpr double largest_correction = 1;
constexpr std::size_t most_neighbors = 256;

double largest(std::vector<double> const& values) {
    return *std::max_element(values.begin(), values.end());
}

/// Links that leave a node of a torus.
int links_of(Topology const& topology) {
    if (topology.kind != TopologyKind::torus) {
        return 0;
    }
    int const links = ports_of(fold_of(topology).shape);
    return topology.machine_dimensions > 0 ? std::min(links, 2 * topology.machine_dimensions) : links;
}

double nearness(int nodes, Residual const& other) {
    return std::exp(-std::abs(std::log2(static_cast<double>(nodes) / other.nodes)) / octaves_of_nodes);
}

double nearness(double bytes, int nodes, Residual const& other) {
    return nearness(nodes, other) *
           std::exp(-std::abs(std::log2(std::max(bytes, 1.0) / std::max(other.bytes, 1.0))) / octaves_of_bytes);
}

ImplementationFactors factors_of(Coefficients const& coefficients, Measurement const& question) {
    auto const found = coefficients.factors.find({question.collective, question.algorithm});
    return found == coefficients.factors.end() ? ImplementationFactors{} : found->second;
}

/// Of the logarithm of a time, because of factors that are not known. Each counts by its part of the time.
/// The widths by held-out errors have in them how far fitted factors change with the nodes. Without such errors,
/// factors are known on the nodes of the fit; with the distance they go back to what is known of any implementation, as
/// residuals do (a stationary Gaussian process in the logarithm of the nodes). So they do beyond the sizes of the fit,
/// which are never left out. Only the set-up of a fitted algorithm, which is work of its processor, stays known.
double variance_of_factors(MachineModel const& model, Measurement const& question, std::vector<Residual> const& fitted,
                           Cost const& cost) {
    double known = 0;
    for (Residual const& residual : fitted) {
        known = model.held_out_above > 0 ? 1 : std::max(known, nearness(question.topology.nodes(), residual));
    }
    known *= std::exp(-size_octaves_beyond(model, question) / octaves_of_bytes);
    double const by_nodes = factor_deviation * std::hypot(cost.latency, cost.bandwidth) / cost.total();
    double const set_up = fitted.empty() ? set_up_deviation * cost.fixed / cost.total() : 0;
    return std::pow(by_nodes, 2) * (1 - known * known) + std::pow(set_up, 2);
}

/// 90 % of |log measured / predicted| for the next job after one, `spread` apart.
double width_of_one_job(MachineModel const& model, double spread) {
    return std::hypot(model.width_inside, z_of_90_percent * std::sqrt(2) * spread);
}

}  // namespace

std::vector<RoundLoad> loads_of(std::vector<Round> const& rounds, Topology const& topology) {
    auto const ranks = static_cast<std::size_t>(topology.ranks());
    auto const nodes = static_cast<std::size_t>(topology.nodes());
    bool const torus = topology.kind == TopologyKind::torus;
    TorusFold const fold = torus ? fold_of(topology) : TorusFold{{1}, {}};
    TorusSteps const steps(fold.shape);
    std::vector<double> links(steps.links());
    std::vector<RoundLoad> loads;
    for (Round const& round : rounds) {
        RoundLoad load;
        load.times = round.times;
        load.reduced = round.reduced;
        load.copied = round.copied;
        std::vector<double> sent(ranks);
        std::vector<double> received(ranks);
        std::vector<double> out(nodes);
        std::vector<double> in(nodes);
        std::vector<double> inside(ranks);
        if (torus) {
            std::fill(links.begin(), links.end(), 0.0);
        }
        for (Message const& message : round.messages) {
            auto const from = static_cast<std::size_t>(message.from);
            auto const to = static_cast<std::size_t>(message.to);
            int const from_node = message.from / topology.ranks_per_node;
            int const to_node = message.to / topology.ranks_per_node;
            double const share = message.share * message.count;
            sent[from] += message.count;
            received[to] += message.count;
            load.largest = std::max(load.largest, message.share);
            if (from_node == to_node) {
                inside[to] += share;
                continue;
            }
            out[static_cast<std::size_t>(from_node)] += share;
            in[static_cast<std::size_t>(to_node)] += share;
            if (torus) {
                int const hops = steps.each(fold.place[static_cast<std::size_t>(from_node)],
                                            fold.place[static_cast<std::size_t>(to_node)],
                                            round.both_ways ? HalfRing::alternate : HalfRing::upwards,
                                            [&](LinkId link) { links[link] += share; });
                load.hops = std::max(load.hops, static_cast<double>(hops));
            } else {
                // No way leads around: the last node is the farthest one from the first.
                double const distance = std::log2(std::abs(from_node - to_node));
                load.hops = std::max(load.hops, 1 + distance);
                load.far += share * distance / static_cast<double>(nodes);
            }
        }
        load.messages = std::max(largest(sent), largest(received));
        load.messages = round.queued > 0 ? std::min(round.queued, load.messages) : load.messages;
        load.in = largest(in);
        load.node = std::max(largest(out), load.in);
        load.inside = largest(inside);
        load.link = torus ? largest(links) : 0;
        loads.push_back(load);
    }
    return loads;
}

Loads const& LoadCache::of(Topology const& topology, OperationKind collective, std::string_view algorithm) {
    auto const key = fmt::format("{} {} {} {} {}", topology.text(), topology.machine_dimensions,
                                 topology.ranks_per_node, name_in_tables(collective), algorithm);
    auto found = loads_.find(key);
    if (found == loads_.end()) {
        Extents extents = topology.shape;
        extents.push_back(topology.ranks_per_node);
        found = loads_.emplace(key, loads_of(schedule_of(collective, algorithm, extents), topology)).first;
    }
    return found->second;
}

Terms terms_of(Measurement const& measurement, Limits limits, LoadCache& cache) {
    Topology const& topology = measurement.topology;
    auto const known = algorithm_of(measurement.collective, measurement.algorithm);
    if (!known) {
        throw UsageError(
            fmt::format("{} has no algorithm {}", name_in_tables(measurement.collective), measurement.algorithm));
    }
    NamedAlgorithm const& named = *known;
    std::string_view const algorithm =
        algorithm_that_runs(measurement.collective, named, measurement.bytes, topology.ranks());
    Terms terms;
    double const part = measurement.bytes / named.ports;
    auto amount = [&terms](Parameter parameter) -> double& { return terms.amounts[index_of(parameter)]; };
    amount(Parameter::call) = 1;
    int const links = links_of(topology);
    for (RoundLoad const& load : cache.of(topology, measurement.collective, algorithm)) {
        double const largest = load.largest * part;
        bool const eager = largest <= limits.eager_bytes;
        amount(Parameter::latency) += load.times;
        amount(Parameter::rendezvous) += eager ? 0 : load.times;
        amount(Parameter::fetch) += load.hops > 0 && largest > limits.inject_bytes ? load.times : 0;
        amount(Parameter::hop) += load.times * load.hops;
        amount(Parameter::message) += load.times * std::max(load.messages - 1, 0.0);
        amount(Parameter::eager) += eager ? load.times * load.messages * named.ports * largest : 0;
        amount(Parameter::far) += load.times * load.far * part;
        amount(Parameter::inside) += load.times * load.inside * part;
        amount(Parameter::reduce) += load.times * load.reduced * part;
        amount(Parameter::copy) += load.times * load.copied * part;
        if (topology.kind == TopologyKind::torus) {
            // A process receives by one port, or by as many as it names. Buckets over several ports share no link.
            double const node = std::max(load.node * measurement.bytes / std::max(links, 1),
                                         load.in * measurement.bytes / std::min(named.ports, std::max(links, 1)));
            bool const disjoint = named.ports > 1 && algorithm == "bucket";
            terms.contended.push_back({load.times, std::max(largest, node), disjoint ? largest : load.link * part});
        } else {
            terms.contended.push_back({load.times, load.node * part, 0});
        }
    }
    double const temporary = temporary_share(measurement.collective, algorithm);
    bool const pair = temporary > 1 && measurement.bytes >= limits.fresh_pair_bytes;
    if (pair || std::min(temporary, 1.0) * measurement.bytes >= limits.fresh_bytes) {
        amount(Parameter::fresh) = temporary * measurement.bytes;
    }
    if (named.set_up != SetUp::none) {
        double const partners = named.set_up == SetUp::port ? 1
                                : algorithm == "bucket"
                                    ? static_cast<double>(topology.shape.size())
                                    : std::log2(std::bit_ceil(static_cast<unsigned>(topology.ranks())));
        terms.set_ups = partners * named.ports;
    }
    return terms;
}

MachineParameters times_of(Terms const& terms, MachineParameters const& parameters) {
    MachineParameters times{};
    for (std::size_t index = 0; index < parameter_count; ++index) {
        times[index] = terms.amounts[index] * std::exp(parameters[index]);
    }
    double const kappa = std::exp(parameters[index_of(Parameter::link)]);
    double contended = 0;
    for (Terms::Contended const& round : terms.contended) {
        contended += round.times * std::max(round.node, kappa * round.link);
    }
    times[index_of(Parameter::byte)] = contended * std::exp(parameters[index_of(Parameter::byte)]);
    return times;
}

double Cost::*part_of(Parameter parameter) {
    switch (parameter) {
    case Parameter::call:
        return &Cost::call;
    case Parameter::latency:
    case Parameter::rendezvous:
    case Parameter::fetch:
    case Parameter::hop:
    case Parameter::message:
    case Parameter::eager:
        return &Cost::latency;
    default:
        return &Cost::bandwidth;
    }
}

Cost cost_of(Terms const& terms, MachineParameters const& parameters, ImplementationFactors const& factors) {
    Cost cost;
    MachineParameters const times = times_of(terms, parameters);
    for (std::size_t index = 0; index < parameter_count; ++index) {
        cost.*part_of(static_cast<Parameter>(index)) += times[index];
    }
    cost.fixed = terms.set_ups * fixed_us * std::exp(factors.fixed);
    cost.latency *= std::exp(factors.latency);
    cost.bandwidth *= std::exp(factors.bandwidth);
    return cost;
}

double correction_of(std::vector<Residual> const& all, double bytes, int nodes) {
    if (all.empty()) {
        return 0;
    }
    std::vector<Residual> residuals = all;
    if (residuals.size() > most_neighbors) {
        std::stable_sort(residuals.begin(), residuals.end(), [&](Residual const& left, Residual const& right) {
            return nearness(bytes, nodes, left) > nearness(bytes, nodes, right);
        });
        residuals.resize(most_neighbors);
    }
    auto const size = static_cast<Eigen::Index>(residuals.size());
    Eigen::MatrixXd covariance(size, size);
    Eigen::VectorXd near(size);
    Eigen::VectorXd values(size);
    for (Eigen::Index row = 0; row < size; ++row) {
        Residual const& residual = residuals[static_cast<std::size_t>(row)];
        for (Eigen::Index column = 0; column < size; ++column) {
            covariance(row, column) =
                nearness(residual.bytes, residual.nodes, residuals[static_cast<std::size_t>(column)]);
        }
        covariance(row, row) += chance;
        near(row) = nearness(bytes, nodes, residual);
        values(row) = residual.log_ratio;
    }
    double const correction = near.dot(covariance.llt().solve(values));
    return std::clamp(correction, -largest_correction, largest_correction);
}

double width_where_fitted(MachineModel const& model) {
    constexpr double z = z_of_90_percent;
    if (model.jobs == 0) {  // the first guess is taken for known
        return width_of_one_job(model, model.job_spread);
    }
    // Student's t for as many jobs and the first guess, which counts as one (Abramowitz and Stegun 26.7.5).
    double const jobs = model.jobs;
    double const t =
        z + (std::pow(z, 3) + z) / (4 * jobs) + (5 * std::pow(z, 5) + 16 * std::pow(z, 3) + 3 * z) / (96 * jobs * jobs);
    return std::hypot(model.width_inside, t * std::sqrt(1 + 1 / jobs) * model.job_spread);
}

double octaves_beyond(MachineModel const& model, Measurement const& question) {
    double const nodes = question.topology.nodes();
    auto const found = model.residuals.find({question.collective, question.algorithm});
    if (found == model.residuals.end()) {
        return std::max({0.0, std::log2(nodes / model.most_nodes), std::log2(model.fewest_nodes / nodes)});
    }
    double farther_down = std::numeric_limits<double>::infinity();  // the question has more nodes than those fitted
    double farther_up = std::numeric_limits<double>::infinity();
    double any = std::numeric_limits<double>::infinity();
    for (Residual const& residual : found->second) {
        double const octaves = std::log2(nodes / residual.nodes);
        any = std::min(any, std::abs(octaves));
        bool const near =
            std::abs(std::log2(std::max(question.bytes, 1.0) / std::max(residual.bytes, 1.0))) <= near_octaves_of_bytes;
        if (near && octaves >= 0) {
            farther_down = std::min(farther_down, octaves);
        }
        if (near && octaves <= 0) {
            farther_up = std::min(farther_up, -octaves);
        }
    }
    // Between nodes that were fitted nothing is beyond.
    if (std::isfinite(farther_down) && std::isfinite(farther_up)) {
        return 0;
    }
    double const nearest = std::min(farther_down, farther_up);
    return std::isfinite(nearest) ? nearest : any;
}

double size_octaves_beyond(MachineModel const& model, Measurement const& question) {
    double fewest = model.fewest_bytes;
    double most = model.most_bytes;
    auto const found = model.residuals.find({question.collective, question.algorithm});
    if (found != model.residuals.end() && !found->second.empty()) {
        auto const [smallest, largest] =
            std::minmax_element(found->second.begin(), found->second.end(),
                                [](Residual const& left, Residual const& right) { return left.bytes < right.bytes; });
        fewest = smallest->bytes;
        most = largest->bytes;
    }
    auto const octave = [](double bytes) { return std::log2(std::max(bytes, 1.0)); };
    return std::max({0.0, octave(question.bytes) - octave(most), octave(fewest) - octave(question.bytes)});
}

double width_at(std::vector<WidthBeyond> const& widths, double octaves) {
    if (octaves <= 0 || widths.empty()) {
        return 0;
    }
    WidthBeyond const& first = widths.front();
    if (octaves <= first.octaves) {
        return first.width * std::sqrt((1 + octaves / first.octaves) / 2);
    }
    for (std::size_t at = 1; at < widths.size(); ++at) {
        if (octaves <= widths[at].octaves) {
            double const share = (octaves - widths[at - 1].octaves) / (widths[at].octaves - widths[at - 1].octaves);
            return widths[at - 1].width + share * (widths[at].width - widths[at - 1].width);
        }
    }
    return widths.back().width * octaves / widths.back().octaves;
}

Prediction with_interval(MachineModel const& model, double time_us, std::vector<double> const& replicates_us,
                         double octaves, double more_variance) {
    double variance = more_variance;  // of the logarithm
    for (double const other : replicates_us) {
        variance += std::pow(std::log(other / time_us), 2) / static_cast<double>(replicates_us.size());
    }
    double known = width_where_fitted(model);
    if (octaves > 0 && model.kind == TopologyKind::tree) {
        // Jobs on few nodes are as alike as their switches are. They tell nothing of the switches between
        // other nodes.
        known = std::max(known, width_of_one_job(model, job_deviation));
    }
    double const width = std::sqrt(std::pow(known, 2) + std::pow(width_at(model.width_beyond, octaves), 2) +
                                   std::pow(z_of_90_percent, 2) * variance);
    return {time_us, time_us * std::exp(-width), time_us * std::exp(width)};
}

Prediction predict(MachineModel const& model, Measurement const& asked, LoadCache& cache) {
    Measurement question = asked;
    question.topology.machine_dimensions = model.dimensions;
    Terms const terms = terms_of(question, model.limits, cache);
    int const nodes = question.topology.nodes();
    Cost const modelled = cost_of(terms, model.best.parameters, factors_of(model.best, question));
    auto const found = model.residuals.find({question.collective, question.algorithm});
    std::vector<Residual> const residuals = found == model.residuals.end() ? std::vector<Residual>{} : found->second;
    double const correction = model.corrected ? correction_of(residuals, question.bytes, nodes) : 0;
    std::vector<double> replicates;
    for (Coefficients const& replicate : model.replicates) {
        replicates.push_back(cost_of(terms, replicate.parameters, factors_of(replicate, question)).total());
    }
    double variance = variance_of_factors(model, question, residuals, modelled);
    if (is_folded(question.topology)) {
        // Where a job of fewer dimensions lies is not known: from the fold to its own shape all may be.
        Measurement unfolded = question;
        unfolded.topology.machine_dimensions = 0;
        Cost const most =
            cost_of(terms_of(unfolded, model.limits, cache), model.best.parameters, factors_of(model.best, question));
        variance += std::pow(std::log(most.total() / modelled.total()) / 2, 2);
    }
    Prediction prediction =
        with_interval(model, modelled.total(), replicates, octaves_beyond(model, question), variance);
    for (double* const time : {&prediction.time_us, &prediction.low_us, &prediction.high_us}) {
        *time *= std::exp(correction);
    }
    return prediction;
}

std::string doubt_of(MachineModel const& model, OperationKind collective, int nodes) {
    double const farthest = std::max(fewest_octaves_answered, model.octaves_left_out + octaves_answered_beyond_tested);
    double const octaves = std::log2(static_cast<double>(nodes) / model.most_nodes);
    if (octaves > farthest + rounding_of_octaves) {
        return fmt::format("{} nodes are x{:.3g} those of the fit, and no error is known beyond x{:.3g}", nodes,
                           std::exp2(octaves), std::exp2(farthest));
    }
    auto const error = model.held_out.find(collective);
    if (error != model.held_out.end() && error->second.median > largest_answered_error) {
        return fmt::format("the held-out error of {} is {:.0f} %", name_in_tables(collective),
                           100 * error->second.median);
    }
    return {};
}

std::string refusal_of(MachineModel const& model, Measurement const& question) {
    if (question.system != model.system) {
        return fmt::format("the model is of {}", model.system);
    }
    if (question.topology.kind != model.kind) {
        return model.kind == TopologyKind::torus ? "the model needs the shape of the torus such as 8x8x8"
                                                 : "the model is of a network without a shape";
    }
    if (question.topology.ranks() > most_ranks) {
        return fmt::format("more than {} ranks", most_ranks);
    }
    auto const contradicted = model.contradicted.find({question.collective, question.algorithm});
    if (contradicted != model.contradicted.end() && question.topology.nodes() >= contradicted->second) {
        return fmt::format("its times on {} nodes are below what the messages of {} take: something else runs",
                           contradicted->second, question.algorithm);
    }
    return model.forced ? std::string() : doubt_of(model, question.collective, question.topology.nodes());
}

}  // namespace dlmb::predict
