// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/tools/predict/predicted_table.hpp"

#include "common/base/error.hpp"
#include "common/tools/predict/pricing.hpp"

#include <fmt/format.h>

#include <array>

namespace dlmb::predict {
namespace {

using tuning::Evidence;
using tuning::TunedOperation;

struct TableCollective {
    Collective collective;
    TunedOperation operation;
    std::string_view call;  // as libraries name it
};
constexpr std::array table_collectives{
    TableCollective{Collective::allreduce, TunedOperation::allreduce, "allreduce"},
    TableCollective{Collective::allgather, TunedOperation::allgather, "allgather"},
    TableCollective{Collective::alltoall, TunedOperation::exchange, "alltoall"},
    TableCollective{Collective::bcast, TunedOperation::broadcast, "bcast"},
};

// Where the library has another name for it than the table of PICO; dlmb_convert has the same list.
struct OtherName {
    std::string_view family;
    Collective collective;
    std::string_view name;
    std::string_view library;
};
constexpr std::array other_library_names{
    OtherName{"open_mpi.tuned", Collective::allreduce, "ring_segmented", "segmented_ring"},
    OtherName{"open_mpi.tuned", Collective::bcast, "binary", "binary_tree"},
    OtherName{"open_mpi.tuned", Collective::bcast, "split_binary", "split_binary_tree"},
    OtherName{"mpich", Collective::allreduce, "non_blocking", "nb"},
    OtherName{"mpich", Collective::allreduce, "rabenseifner", "reduce_scatter_allgather"},
    OtherName{"mpich", Collective::allgather, "non_blocking", "nb"},
};

struct Candidate {
    std::string name;  // as the model has it
    tuning::Algorithm algorithm;
};

/// The rules of one collective on one job.
class RuleMaker {
public:
    RuleMaker(MachineModel const& model, TableCollective const& of, std::vector<Candidate> const& candidates,
              LoadCache& cache)
        : model_(model), of_(of), candidates_(candidates), cache_(cache) {}

    /// Returns at how many sizes nothing is chosen.
    std::size_t add(Topology const& job, std::vector<Bytes> const& sizes, std::vector<tuning::Rule>& rules) {
        std::size_t undecided = 0;
        tuning::Rule* open = nullptr;  // the rule of the size before
        for (Bytes const bytes : sizes) {
            auto const best = fastest(job, bytes);
            auto const usual = best && best->apart ? usual_time(job, bytes, *best) : std::nullopt;
            if (!usual) {
                open = nullptr;
                ++undecided;
                continue;
            }
            if (open != nullptr) {
                open->when.bytes->max = bytes - 1;
            }
            if (open == nullptr || open->choose.algorithm != best->candidate->algorithm) {
                append(job, bytes, *best->candidate, best->us, *usual, rules);
                open = &rules.back();
            } else {
                open->evidence->sizes.push_back(bytes);  // the times stay those of the smallest size
                open->when.bytes->max = bytes;
            }
        }
        return undecided;
    }

private:
    std::optional<Prediction> time(Topology const& job, Bytes bytes, Candidate const& candidate) {
        return answer(model_, {model_.system, job, of_.collective, candidate.name, static_cast<double>(bytes)}, cache_);
    }

    struct Choice {
        Candidate const* candidate;
        Prediction us;
        bool apart;  // its interval is below those of all others
    };

    /// Nothing where none can be run.
    std::optional<Choice> fastest(Topology const& job, Bytes bytes) {
        std::vector<Candidate const*> candidates;
        std::vector<Prediction> predictions;
        for (Candidate const& candidate : candidates_) {
            if (auto const us = time(job, bytes, candidate)) {
                candidates.push_back(&candidate);
                predictions.push_back(*us);
            }
        }
        if (predictions.empty()) {
            return std::nullopt;
        }
        auto const [place, apart] = fastest_of(predictions);
        return Choice{candidates[place], predictions[place], apart};
    }

    /// Time of the algorithm that is fastest on the most nodes of the fit, which may be the choice itself.
    std::optional<Prediction> usual_time(Topology const& job, Bytes bytes, Choice const& best) {
        Topology fitted = job;
        fitted.shape = {model_.most_nodes};
        auto const before = fastest(fitted, bytes);
        if (!before) {
            return std::nullopt;
        }
        return before->candidate == best.candidate ? best.us : time(job, bytes, *before->candidate);
    }

    void append(Topology const& job, Bytes bytes, Candidate const& choice, Prediction const& us,
                Prediction const& usual_us, std::vector<tuning::Rule>& rules) const {
        constexpr double ns = nanoseconds_per_microsecond;
        tuning::Rule rule;
        rule.id = fmt::format("p{:04}", rules.size() + 1);
        rule.scope = "mpi";
        rule.when.operation = of_.operation;
        rule.when.bytes = tuning::ByteInterval{bytes, bytes};
        auto const ranks = static_cast<std::uint64_t>(job.ranks());
        auto const nodes = static_cast<std::uint64_t>(job.nodes());
        rule.when.ranks = tuning::CountInterval{ranks, ranks};
        rule.when.nodes = tuning::CountInterval{nodes, nodes};
        rule.when.memory = "host";
        if (of_.operation == TunedOperation::exchange) {
            rule.when.uniform = true;
        }
        rule.choose = {"mpi", fmt::format("algorithm:{}={}", of_.call, choice.algorithm.name), choice.algorithm, {}};
        Evidence evidence;
        evidence.sizes = {bytes};
        evidence.choice_ns = us.time_us * ns;
        evidence.default_ns = usual_us.time_us * ns;
        evidence.gain = 1 - us.time_us / usual_us.time_us;
        if (us.time_us != usual_us.time_us) {  // else it is the same, whatever the time is
            evidence.gain_low = 1 - us.high_us / usual_us.low_us;
            evidence.gain_high = 1 - us.low_us / usual_us.high_us;
        }
        auto const error = model_.held_out.find(of_.collective);
        evidence.predicted = tuning::Predicted{static_cast<std::uint64_t>(model_.most_nodes), {}};
        if (error != model_.held_out.end()) {
            evidence.predicted->held_out_error = error->second.median;
        }
        rule.evidence = std::move(evidence);
        rules.push_back(std::move(rule));
    }

    MachineModel const& model_;
    TableCollective const& of_;
    std::vector<Candidate> const& candidates_;
    LoadCache& cache_;
};

/// The library's own name of an algorithm of PICO's table: {"open_mpi.tuned", "ring"} for "ring_ompi". Nothing: a
/// library's own decision, or an algorithm that no library has.
std::optional<tuning::Algorithm> library_algorithm(Collective collective, std::string_view name) {
    for (auto const& [ending, family] :
         {std::pair{std::string_view("_ompi"), "open_mpi.tuned"}, {std::string_view("_mpich"), "mpich"}}) {
        if (!name.ends_with(ending) || name.starts_with("default")) {
            continue;
        }
        std::string_view bare = name.substr(0, name.size() - ending.size());
        for (OtherName const& other : other_library_names) {
            bare =
                other.family == family && other.collective == collective && other.name == bare ? other.library : bare;
        }
        return tuning::Algorithm{family, std::string{bare}, std::nullopt};
    }
    return std::nullopt;
}

std::vector<Candidate> candidates_of(MachineModel const& model, Collective collective, std::string const& family) {
    std::vector<Candidate> candidates;
    for (auto const& [key, factors] : model.best.factors) {
        auto algorithm = library_algorithm(key.first, key.second);
        if (key.first == collective && algorithm && algorithm->family == family) {
            candidates.push_back({key.second, *std::move(algorithm)});
        }
    }
    return candidates;
}

}  // namespace

PredictedTable predicted_table(MachineModel const& model, TableQuestion const& question) {
    if (question.jobs.empty() || question.sizes.empty()) {
        throw UsageError("a table needs at least one number of nodes and one size");
    }
    PredictedTable table;
    LoadCache cache;
    for (TableCollective const& of : table_collectives) {
        auto const candidates = candidates_of(model, of.collective, question.family);
        if (candidates.empty()) {
            table.left_out.push_back(
                fmt::format("{}: the model has no algorithm of {}", name_of(of.collective), question.family));
            continue;
        }
        for (Topology const& job : question.jobs) {
            Measurement const asked{model.system, job, of.collective, ""};
            if (std::string const why = refusal_of(model, asked); !why.empty()) {
                table.left_out.push_back(fmt::format("{} on {} nodes: {}", name_of(of.collective), job.text(), why));
                continue;
            }
            std::size_t const undecided = RuleMaker(model, of, candidates, cache).add(job, question.sizes, table.rules);
            if (undecided > 0) {
                table.left_out.push_back(fmt::format("{} on {} nodes: undecided at {} of {} sizes, the library decides",
                                                     name_of(of.collective), job.text(), undecided,
                                                     question.sizes.size()));
            }
        }
    }
    return table;
}

}  // namespace dlmb::predict
