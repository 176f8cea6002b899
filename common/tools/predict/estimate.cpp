// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// The posterior mode of the logarithms of all parameters by Levenberg and Marquardt, with the pseudo-Huber loss by
// weights (Hartley, Zisserman: Multiple View Geometry, 2004, appendix 6). The priors are wide around what networks of
// the last ten years have, except for what data of few node counts cannot tell from anything else: the time of a hop,
// and how much of a node's bandwidth a link has.
#include "common/base/philox.hpp"
#include "common/tools/predict/fit.hpp"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>
#include <set>

namespace dlmb::predict {
namespace {

struct Prior {
    double value;      // in the unit of the parameter
    double deviation;  // of the logarithm
};

// In the order of Parameter.
constexpr std::array<Prior, parameter_count> priors{{{1, 1},
                                                     {1.5, 1},
                                                     {1, 1.5},
                                                     {0.5, 1},
                                                     {0.1, 0.5},
                                                     {0.3, 1},
                                                     {1 / 6000.0, 0.7},
                                                     {0.9, 0.15},
                                                     {1 / 60000.0, 1.5},
                                                     {1 / 6000.0, 1.5},
                                                     {1 / 8000.0, 1},
                                                     {1 / 8000.0, 1},
                                                     {1 / 6000.0, 1},
                                                     {1 / 4000.0, 1}}};
constexpr double noise = 0.12;  // of the logarithm of a time, beyond which a measurement counts less and less
constexpr int rounds_of_spread = 4;

struct Point {
    Measurement const* measurement;
    Terms terms;
    std::size_t implementation = 0;
    std::size_t job = 0;
    double log_time = 0;
    double weight = 1;
};

using Vector = Eigen::VectorXd;

/// The measurements of one fit, and where each unknown is: the parameters, then three factors per implementation.
class Problem {
    using Slopes = std::array<double, parameter_count + 5>;

public:
    Problem(std::vector<Measurement> const& measurements, Limits limits, LoadCache& cache) {
        for (Measurement const& measurement : measurements) {
            points_.push_back({&measurement, terms_of(measurement, limits, cache),
                               place_of(implementations_, {measurement.collective, measurement.algorithm}),
                               place_of(jobs_, measurement.job), std::log(measurement.time_us), 1});
        }
        // The links of a torus belong to one job. A job that is alone on its node count cannot be told from that count.
        std::map<std::pair<int, int>, std::set<std::size_t>> jobs_on;
        std::set<std::size_t> told;
        for (Point const& point : points_) {
            Topology const& topology = point.measurement->topology;
            jobs_on[{topology.nodes(), topology.ranks_per_node}].insert(point.job);
        }
        for (auto const& [nodes, jobs] : jobs_on) {
            if (jobs.size() > 1) {
                told.insert(jobs.begin(), jobs.end());
            }
        }
        told_jobs_ = static_cast<int>(told.size());
        if (measurements.front().topology.kind == TopologyKind::torus) {
            job_deviation_ = 0;
            told_jobs_ = 0;
        }
        if (told_jobs_ == 0) {
            jobs_.clear();
        }
        prior_values_ = Vector::Zero(size());
        for (std::size_t index = 0; index < parameter_count; ++index) {
            prior_values_(static_cast<Eigen::Index>(index)) = std::log(priors[index].value);
        }
        centers_ = prior_values_;
    }

    [[nodiscard]] Vector solve(Vector unknowns) const {
        double damping = 1e-3;
        double loss = loss_of(unknowns);
        for (int step = 0; step < 100; ++step) {
            auto const [hessian, gradient] = normal_equations(unknowns);
            double const before = loss;
            while (loss == before && damping < 1e9) {
                Eigen::MatrixXd damped = hessian;
                damped.diagonal() *= 1 + damping;
                Vector next = unknowns - damped.ldlt().solve(gradient);
                double const next_loss = loss_of(next);
                damping *= next_loss < loss ? 0.3 : 4;
                if (next_loss < loss) {
                    unknowns = std::move(next);
                    loss = next_loss;
                }
            }
            if (before - loss <= 1e-9 * before) {
                break;
            }
        }
        return unknowns;
    }

    /// What a replicate is fitted to: measurements that are drawn with replacement, by their weights, and priors around
    /// values that are drawn from them (randomized maximum likelihood, Oliver et al. 1996). So replicates differ in
    /// what measurements do not tell as well. Factors of jobs keep their prior: how little few jobs tell of the next
    /// one is in width_where_fitted().
    void draw(std::uint64_t number) {
        for (Point& point : points_) {
            point.weight = 0;
        }
        for (std::uint32_t count = 0; count < points_.size(); ++count) {
            std::uint32_t const word = philox({count, 0, 0, 0}, number)[0];
            points_[below(word, static_cast<std::uint32_t>(points_.size()))].weight += 1;
        }
        centers_ = prior_values_;
        for (Eigen::Index unknown = 0; unknown < job_at(0); ++unknown) {
            centers_(unknown) += prior_deviation(unknown) * normal(static_cast<std::uint32_t>(unknown), number);
        }
    }

    [[nodiscard]] Coefficients coefficients(Vector const& unknowns) const {
        Coefficients found;
        found.parameters = parameters(unknowns);
        for (std::size_t place = 0; place < implementations_.size(); ++place) {
            found.factors[implementations_[place]] = factors(unknowns, place);
        }
        return found;
    }

    /// How far jobs are apart, from their factors and how well these are known (empirical Bayes); counts the first
    /// guess as much as one job. 0: no jobs.
    [[nodiscard]] Vector solve_with_jobs() {
        Vector unknowns = solve(prior_values_);
        auto const count = static_cast<Eigen::Index>(2 * jobs_.size());
        for (int round = 0; round < rounds_of_spread && count > 0; ++round) {
            Eigen::MatrixXd const hessian = normal_equations(unknowns).first;
            Eigen::MatrixXd const covariance = hessian.ldlt().solve(Eigen::MatrixXd::Identity(size(), size()));
            double const squares = unknowns.tail(count).squaredNorm() + covariance.diagonal().tail(count).sum();
            job_deviation_ = std::sqrt((squares + 2 * job_deviation * job_deviation) / static_cast<double>(count + 2));
            unknowns = solve(unknowns);
        }
        return unknowns;
    }
    [[nodiscard]] double job_spread() const { return job_deviation_; }
    [[nodiscard]] int jobs() const { return told_jobs_; }

    [[nodiscard]] std::map<ImplementationKey, std::vector<Residual>> residuals(Vector const& unknowns) const {
        std::map<ImplementationKey, std::vector<Residual>> found;
        for (Point const& point : points_) {
            Cost const cost = cost_of(point.terms, parameters(unknowns), factors_of(unknowns, point));
            found[implementations_[point.implementation]].push_back({point.measurement->bytes,
                                                                     point.measurement->topology.nodes(),
                                                                     point.log_time - std::log(cost.total())});
        }
        return found;
    }

private:
    template <class Name>
    static std::size_t place_of(std::vector<Name>& names, Name const& name) {
        auto const place = static_cast<std::size_t>(std::find(names.begin(), names.end(), name) - names.begin());
        if (place == names.size()) {
            names.push_back(name);
        }
        return place;
    }

    [[nodiscard]] Eigen::Index size() const { return job_at(jobs_.size()); }

    static MachineParameters parameters(Vector const& unknowns) {
        MachineParameters found{};
        std::copy_n(unknowns.data(), parameter_count, found.begin());
        return found;
    }
    static Eigen::Index factors_at(std::size_t place) { return static_cast<Eigen::Index>(parameter_count + 3 * place); }
    static ImplementationFactors factors(Vector const& unknowns, std::size_t place) {
        auto const first = factors_at(place);
        return {unknowns(first), unknowns(first + 1), unknowns(first + 2)};
    }

    /// Factors of latency and bandwidth of a job.
    [[nodiscard]] Eigen::Index job_at(std::size_t job) const {
        return static_cast<Eigen::Index>(parameter_count + 3 * implementations_.size() + 2 * job);
    }
    /// What multiplies the parts of the time of a point: the factors of its implementation and of its job.
    [[nodiscard]] ImplementationFactors factors_of(Vector const& unknowns, Point const& point) const {
        ImplementationFactors own = factors(unknowns, point.implementation);
        if (!jobs_.empty()) {
            own.latency += unknowns(job_at(point.job));
            own.bandwidth += unknowns(job_at(point.job) + 1);
        }
        return own;
    }

    /// Of mean 0 and deviation 1 (Box and Muller); no other draw of this replicate has the second counter word 1.
    static double normal(std::uint32_t unknown, std::uint64_t number) {
        PhiloxBlock const words = philox({unknown, 1, 0, 0}, number);
        return std::sqrt(-2 * std::log(to_unit(words[0]))) * std::cos(2 * std::numbers::pi * to_unit(words[1]));
    }

    [[nodiscard]] double prior_deviation(Eigen::Index unknown) const {
        auto const index = static_cast<std::size_t>(unknown);
        if (unknown >= job_at(0)) {
            return job_deviation_;
        }
        if (index < parameter_count) {
            return priors[index].deviation;
        }
        return (index - parameter_count) % 3 == 2 ? set_up_deviation : factor_deviation;
    }

    [[nodiscard]] double loss_of(Vector const& unknowns) const {
        double loss = 0;
        MachineParameters const shared = parameters(unknowns);
        for (Point const& point : points_) {
            Cost const cost = cost_of(point.terms, shared, factors_of(unknowns, point));
            double const residual = (std::log(cost.total()) - point.log_time) / noise;
            loss += point.weight * (std::sqrt(1 + residual * residual) - 1);
        }
        for (Eigen::Index unknown = 0; unknown < size(); ++unknown) {
            loss += 0.5 * std::pow((unknowns(unknown) - centers_(unknown)) / prior_deviation(unknown), 2);
        }
        return loss;
    }

    /// Gauss and Newton: each time depends on the parameters, on its implementation and its job.
    [[nodiscard]] std::pair<Eigen::MatrixXd, Vector> normal_equations(Vector const& unknowns) const {
        Eigen::MatrixXd hessian = Eigen::MatrixXd::Zero(size(), size());
        Vector gradient = Vector::Zero(size());
        MachineParameters const shared = parameters(unknowns);
        Slopes slope{};
        std::array<Eigen::Index, std::tuple_size_v<Slopes>> where{};
        std::size_t const used = jobs_.empty() ? parameter_count + 3 : slope.size();
        for (Point const& point : points_) {
            ImplementationFactors const own = factors_of(unknowns, point);
            Cost const cost = cost_of(point.terms, shared, own);
            slopes(point.terms, shared, own, cost, slope);
            for (std::size_t index = 0; index < parameter_count; ++index) {
                where[index] = static_cast<Eigen::Index>(index);
            }
            for (Eigen::Index index = 0; index < 3; ++index) {
                where[parameter_count + static_cast<std::size_t>(index)] = factors_at(point.implementation) + index;
            }
            where[parameter_count + 3] = job_at(point.job);
            where[parameter_count + 4] = job_at(point.job) + 1;
            double const residual = (std::log(cost.total()) - point.log_time) / noise;
            double const weight = point.weight / std::sqrt(1 + residual * residual);
            for (std::size_t row = 0; row < used; ++row) {
                gradient(where[row]) += weight * residual * slope[row] / noise;
                for (std::size_t column = 0; column < used; ++column) {
                    hessian(where[row], where[column]) += weight * slope[row] * slope[column] / (noise * noise);
                }
            }
        }
        for (Eigen::Index unknown = 0; unknown < size(); ++unknown) {
            double const precision = 1 / std::pow(prior_deviation(unknown), 2);
            hessian(unknown, unknown) += precision;
            gradient(unknown) += precision * (unknowns(unknown) - centers_(unknown));
        }
        return {std::move(hessian), std::move(gradient)};
    }

    /// Of the logarithm of the time, by each parameter, by the three factors of an implementation and the two of a job.
    static void slopes(Terms const& terms, MachineParameters const& shared, ImplementationFactors const& own,
                       Cost const& cost, Slopes& slope) {
        Cost const over_total{1 / cost.total(), 0, std::exp(own.latency) / cost.total(),
                              std::exp(own.bandwidth) / cost.total()};
        MachineParameters const times = times_of(terms, shared);
        for (std::size_t index = 0; index < parameter_count; ++index) {
            slope[index] = times[index] * over_total.*part_of(static_cast<Parameter>(index));
        }
        double const kappa = std::exp(shared[index_of(Parameter::link)]);
        double by_link = 0;
        for (Terms::Contended const& round : terms.contended) {
            by_link += kappa * round.link > round.node ? round.times * kappa * round.link : 0;
        }
        slope[index_of(Parameter::link)] = by_link * std::exp(shared[index_of(Parameter::byte)]) * over_total.bandwidth;
        slope[parameter_count] = cost.latency / cost.total();
        slope[parameter_count + 1] = cost.bandwidth / cost.total();
        slope[parameter_count + 2] = cost.fixed / cost.total();
        slope[parameter_count + 3] = slope[parameter_count];
        slope[parameter_count + 4] = slope[parameter_count + 1];
    }

    std::vector<ImplementationKey> implementations_;
    std::vector<std::string> jobs_;
    int told_jobs_ = 0;
    double job_deviation_ = job_deviation;
    std::vector<Point> points_;
    Vector prior_values_;
    Vector centers_;  // of the priors of this fit: their values, or what a replicate drew
};

}  // namespace

MachineModel estimate(std::vector<Measurement> const& measurements, Limits limits, LoadCache& cache, int replicates) {
    Problem problem(measurements, limits, cache);
    Vector const unknowns = problem.solve_with_jobs();
    MachineModel model;
    model.system = measurements.front().system;
    model.kind = measurements.front().topology.kind;
    model.dimensions = measurements.front().topology.machine_dimensions;
    model.limits = limits;
    model.best = problem.coefficients(unknowns);
    model.jobs = problem.jobs();
    model.job_spread = problem.job_spread();
    model.residuals = problem.residuals(unknowns);
    model.points = static_cast<int>(measurements.size());
    model.fewest_nodes = model.most_nodes = measurements.front().topology.nodes();
    model.fewest_bytes = model.most_bytes = measurements.front().bytes;
    for (Measurement const& measurement : measurements) {
        model.fewest_nodes = std::min(model.fewest_nodes, measurement.topology.nodes());
        model.most_nodes = std::max(model.most_nodes, measurement.topology.nodes());
        model.fewest_bytes = std::min(model.fewest_bytes, measurement.bytes);
        model.most_bytes = std::max(model.most_bytes, measurement.bytes);
    }
    for (int number = 0; number < replicates; ++number) {
        problem.draw(static_cast<std::uint64_t>(number));
        model.replicates.push_back(problem.coefficients(problem.solve(unknowns)));
    }
    return model;
}

}  // namespace dlmb::predict
