// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// The costs of a machine, and the time of a collective that follows from it: the terms of LogGP (Alexandrov et al.
// 1995) over the rounds of an algorithm, with two factors of its implementation. The formula is in README.md.
#pragma once

#include "common/tools/predict/network/topology.hpp"
#include "common/tools/predict/schedule.hpp"

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace dlmb::predict {

/// A line of a table of collective times.
struct Measurement {
    std::string system;
    Topology topology;
    OperationKind collective = OperationKind::all_reduce;
    std::string algorithm;
    double bytes = 0;    // of the full vector
    double time_us = 0;  // 0: not measured
    std::string job{};   // measurements of one job share what else ran on the machine and where its nodes were
};

/// Parameters are kept as natural logarithms, so that none can be negative.
enum class Parameter : std::uint8_t {
    call,        // us per collective
    latency,     // us per round
    rendezvous,  // us per round with a message beyond the eager limit
    fetch,       // us per round with a message to another node beyond the inject limit
    hop,         // us per link
    message,     // us per further message of a rank in a round
    byte,        // us per byte of a node
    link,        // kappa, without unit
    far,         // us per byte and log2 of the distance
    inside,      // us per byte between ranks of one node
    reduce,      // us per byte
    copy,        // us per byte
    eager,       // us per byte of messages up to the eager limit, which are copied out of and into other buffers
    fresh,       // us per byte of temporary memory that the system has to map anew for each call
};
inline constexpr std::size_t parameter_count = 14;
inline constexpr std::array<std::string_view, parameter_count> parameter_names{
    "call_us",    "latency_us",  "rendezvous_us",  "fetch_us",       "hop_us",       "message_us",    "byte_us",
    "link_ratio", "far_byte_us", "inside_byte_us", "reduce_byte_us", "copy_byte_us", "eager_byte_us", "fresh_byte_us"};
using MachineParameters = std::array<double, parameter_count>;
[[nodiscard]] constexpr std::size_t index_of(Parameter parameter) {
    return static_cast<std::size_t>(parameter);
}

/// The factors that one implementation of an algorithm has of its own.
struct ImplementationFactors {
    double latency = 0;    // logarithm of a; 0 where the algorithm was not measured
    double bandwidth = 0;  // logarithm of b
    double fixed = 0;      // logarithm of us per set-up over `fixed_us`; only of algorithms that set up remote access
};
inline constexpr double fixed_us = 8;

/// (collective, name of the algorithm in the data set).
using ImplementationKey = std::pair<OperationKind, std::string>;

/// How many lines, by implementation.
using LineCounts = std::map<ImplementationKey, int>;

struct Coefficients {
    MachineParameters parameters{};
    std::map<ImplementationKey, ImplementationFactors> factors;
};

/// Where a measurement lies from the model: what a prediction nearby is corrected by.
struct Residual {
    double bytes = 0;
    int nodes = 1;
    double log_ratio = 0;  // of measured over modelled time
};

/// No buffers are so large.
inline constexpr double no_limit = 1e18;

/// Where costs change by steps.
struct Limits {
    double eager_bytes = 8192;            // longer messages wait for their receiver
    double fresh_bytes = 32 << 20;        // larger temporary memory is mapped anew for each call
    double fresh_pair_bytes = 128 << 10;  // so is a pair of such temporary buffers
    double inject_bytes = no_limit;       // longer messages to other nodes wait for the NIC to fetch them from memory
};

struct HeldOutError {
    int points = 0;
    double median = 0;  // |predicted / measured - 1|
    double p90 = 0;
};

/// How wide intervals have to be so many octaves of nodes beyond those measured: what 90 % of the measurements needed
/// that were left out there, beyond the width where the model was fitted.
struct WidthBeyond {
    double octaves = 1;
    double width = 0;  // of |log measured / predicted|
};

struct MachineModel {
    std::string system;
    TopologyKind kind = TopologyKind::tree;
    int dimensions = 0;  // of a torus, by the jobs that were measured
    Limits limits;
    Coefficients best;
    std::vector<Coefficients> replicates;  // of the bootstrap
    int jobs = 0;                          // on node counts that another job has, too; 0: none, or a torus
    double job_spread = 0;                 // deviation of the logarithm of the times of one job from those of another
    bool corrected = false;                // predictions follow the residuals of near measurements
    std::map<ImplementationKey, std::vector<Residual>> residuals;

    // Where the model holds.
    int points = 0;
    int fewest_nodes = 1;
    int most_nodes = 1;
    double fewest_bytes = 0;
    double most_bytes = 0;
    std::map<OperationKind, HeldOutError> held_out;
    double octaves_left_out = 0;  // log2 of the largest factor of nodes that was predicted from those below
    int held_out_above = 0;   // the errors are of measurements on more nodes than this, fitted on the others; 0: none
    double width_inside = 0;  // 90 % of |log measured / predicted| where the model was fitted
    std::vector<WidthBeyond> width_beyond;  // by ascending octaves, never less wide; none: no nodes were left out
    std::map<ImplementationKey, int> contradicted;  // from so many nodes on its times are below what its name can take
    bool forced = false;                            // by --force

    // Where it comes from.
    std::string input_name;
    std::string input_sha256;
    int max_nodes = 0;    // as asked for; 0: all
    LineCounts left_out;  // that are too fast for their names; not in the file
};

/// Shares are of the full vector.
struct RoundLoad {
    double times = 1;
    double messages = 0;  // sent or received by the busiest rank
    double largest = 0;   // share of the largest message
    double node = 0;      // share that the busiest node sends or receives over the network
    double in = 0;        // the same of what is received alone
    double link = 0;      // torus: share on the busiest link
    double far = 0;       // tree: share that a node sends on average, times log2 of the distance in nodes
    double hops = 0;      // torus: links of the longest route; tree: log2 of the largest distance in nodes, plus 1
    double inside = 0;    // share that the busiest rank receives inside its node: the receiver copies
    double reduced = 0;
    double copied = 0;
};

/// The loads of rounds on a torus (ranks in row-major order; half a ring is gone upwards, and both ways where pairs
/// exchange) or a tree.
[[nodiscard]] std::vector<RoundLoad> loads_of(std::vector<Round> const& rounds, Topology const& topology);

/// The rounds of a collective on given nodes; for all sizes.
using Loads = std::vector<RoundLoad>;

/// Remembers the loads of what was asked before. Throws UsageError where the schedule cannot be made.
class LoadCache {
public:
    Loads const& of(Topology const& topology, OperationKind collective, std::string_view algorithm);

private:
    std::map<std::string, Loads> loads_;
};

/// The factors in front of each parameter in the time of one measurement.
struct Terms {
    std::array<double, parameter_count> amounts{};  // those of `byte` and `link` are left out
    struct Contended {
        double times = 0;
        double node = 0;  // bytes
        double link = 0;  // bytes
    };
    std::vector<Contended> contended;  // rounds
    double set_ups = 0;                // ports, or ports times partners
};

/// Throws UsageError where the name of the algorithm does not tell the messages, or not of so many ranks.
[[nodiscard]] Terms terms_of(Measurement const& measurement, Limits limits, LoadCache& cache);

/// Parts of a time, us.
struct Cost {
    double call = 0;
    double fixed = 0;
    double latency = 0;
    double bandwidth = 0;
    [[nodiscard]] double total() const { return call + fixed + latency + bandwidth; }
};
/// The part that a parameter belongs to; that of latency is multiplied by a, that of bandwidth by b.
[[nodiscard]] double Cost::*part_of(Parameter parameter);
[[nodiscard]] Cost cost_of(Terms const& terms, MachineParameters const& parameters,
                           ImplementationFactors const& factors);

/// What each parameter adds to a time, us, without a and b. That of `byte` is what the busiest ports and links need;
/// `link` has its share in it and none of its own.
[[nodiscard]] MachineParameters times_of(Terms const& terms, MachineParameters const& parameters);

/// Deviation of the logarithm of the factors a and b of an implementation, before they are measured. Where each
/// implementation is left out in turn of PICO's measurements on few nodes, the 90 % quantile of the errors is that of a
/// normal distribution with a deviation of 0.2 to 0.6, by system.
inline constexpr double factor_deviation = 0.4;
/// The same of its set-up, which differs more: 8 us by the prior, from 2 to 40.
inline constexpr double set_up_deviation = 1.5;
/// The same of the factors of a job, on a network that jobs share.
inline constexpr double job_deviation = 0.3;

/// 90 % of |log measured / predicted| for another job on nodes that were fitted.
[[nodiscard]] double width_where_fitted(MachineModel const& model);

/// Octaves of nodes from the question to the nearest nodes on which its algorithm was fitted at a near size (a factor
/// of 8); of an algorithm that was not fitted, to any nodes that were.
[[nodiscard]] double octaves_beyond(MachineModel const& model, Measurement const& question);

/// Octaves of bytes from the question to the sizes at which its algorithm was fitted, or any that was.
[[nodiscard]] double size_octaves_beyond(MachineModel const& model, Measurement const& question);

/// More or fewer nodes, or larger or smaller sizes, than were fitted of its algorithm.
[[nodiscard]] inline bool is_extrapolated(MachineModel const& model, Measurement const& question) {
    return octaves_beyond(model, question) > 0 || size_octaves_beyond(model, question) > 0;
}

/// The amount that so many octaves add to the width. Nearer than what was left out half of the variance is that of any
/// other nodes; farther than that the width grows with the octaves.
[[nodiscard]] double width_at(std::vector<WidthBeyond> const& widths, double octaves);

struct Prediction {
    double time_us = 0;
    double low_us = 0;  // 90 % interval
    double high_us = 0;
};

/// The interval of a time that replicates of the bootstrap put at `replicates_us`, so many octaves from what was
/// fitted. `more_variance`: that of the logarithm of the time because of what is not known of algorithm and network.
[[nodiscard]] Prediction with_interval(MachineModel const& model, double time_us,
                                       std::vector<double> const& replicates_us, double octaves, double more_variance);

/// The correction of log time that the residuals of the same algorithm at near sizes ask for (Gaussian process over the
/// nearest 256).
[[nodiscard]] double correction_of(std::vector<Residual> const& all, double bytes, int nodes);

/// Throws UsageError as terms_of() does.
[[nodiscard]] Prediction predict(MachineModel const& model, Measurement const& asked, LoadCache& cache);

/// Why this model answers only if it is forced: no error is known of so many nodes, or the held-out error of the
/// collective is above 40 %. Empty: neither. An error that is not known is not held against it.
[[nodiscard]] std::string doubt_of(MachineModel const& model, OperationKind collective, int nodes);

/// Why this model does not answer; empty: it does.
[[nodiscard]] std::string refusal_of(MachineModel const& model, Measurement const& question);

/// As JSON: results-schema/machine-model.schema.json (model_file.cpp).
[[nodiscard]] std::string to_text(MachineModel const& model);

/// Throws UsageError "NAME: what is wrong". `force`: it answers all that it can.
[[nodiscard]] MachineModel read_model(std::string_view text, std::string_view name, bool force = false);

}  // namespace dlmb::predict
