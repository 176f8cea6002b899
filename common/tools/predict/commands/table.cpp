// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// dlmb_predict table --model MODEL --nodes N -o TABLE: a tuning table for ranks that were not measured, of collectives
// whose algorithm Open MPI and MPICH can be told. A size has a rule where the interval of the fastest is below those of
// all others. Sizes between two that were asked for get the choice of the smaller one where both have one. The gain is
// that over the fastest on the most nodes of the fit; its interval is wide, for both err alike, and 0 for the same one.
#include "common/base/command_line/exit_codes.hpp"
#include "common/base/command_line/subcommands.hpp"
#include "common/base/error.hpp"
#include "common/base/output_file.hpp"
#include "common/base/units.hpp"
#include "common/base/version.hpp"
#include "common/formats/record/record.hpp"
#include "common/formats/table/provenance.hpp"
#include "common/formats/table/table_file.hpp"
#include "common/tools/predict/commands/model_option.hpp"
#include "common/tools/predict/commands/run_predict.hpp"
#include "common/tools/predict/pricing.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>

namespace dlmb::predict::commands {
namespace {

constexpr Bytes most_size = Bytes{1} << 40;

using tuning::Evidence;
using tuning::TunedOperation;

constexpr std::array table_operations{TunedOperation::allreduce, TunedOperation::allgather, TunedOperation::exchange,
                                      TunedOperation::broadcast};

// Where the library has another name for it than the table of PICO; dlmb_convert has the same list.
struct OtherName {
    std::string_view family;
    OperationKind collective;
    std::string_view name;
    std::string_view library;
};
constexpr std::array other_library_names{
    OtherName{"open_mpi.tuned", OperationKind::all_reduce, "ring_segmented", "segmented_ring"},
    OtherName{"open_mpi.tuned", OperationKind::broadcast, "binary", "binary_tree"},
    OtherName{"open_mpi.tuned", OperationKind::broadcast, "split_binary", "split_binary_tree"},
    OtherName{"mpich", OperationKind::all_reduce, "non_blocking", "nb"},
    OtherName{"mpich", OperationKind::all_reduce, "rabenseifner", "reduce_scatter_allgather"},
    OtherName{"mpich", OperationKind::all_gather, "non_blocking", "nb"},
};

struct Candidate {
    std::string name;  // as the model has it
    tuning::Algorithm algorithm;
};

/// The library's own name of an algorithm of PICO's table: {"open_mpi.tuned", "ring"} for "ring_ompi". Nothing: a
/// library's own decision, or an algorithm that no library has.
std::optional<tuning::Algorithm> library_algorithm(OperationKind collective, std::string_view name) {
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

/// The rules of one collective.
class RuleMaker {
public:
    RuleMaker(MachineModel const& model, TunedOperation operation, std::string const& family)
        : model_(model), operation_(operation) {
        for (auto const& [key, factors] : model.best.factors) {
            auto algorithm = library_algorithm(key.first, key.second);
            if (key.first == kind_of(operation) && algorithm && algorithm->family == family) {
                candidates_.push_back({key.second, *std::move(algorithm)});
            }
        }
    }

    [[nodiscard]] bool knows_none() const { return candidates_.empty(); }

    /// Returns at how many sizes nothing is chosen.
    std::size_t add(Topology const& job, std::vector<Bytes> const& sizes, std::vector<tuning::Rule>& rules) {
        std::size_t undecided = 0;
        tuning::Rule* open = nullptr;  // the rule of the size before
        for (Bytes const bytes : sizes) {
            auto const best = fastest(job, bytes);
            auto const usual = best && best->apart ? usual_time(job, bytes) : std::nullopt;
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
        return answer(model_, {model_.system, job, kind_of(operation_), candidate.name, static_cast<double>(bytes)},
                      cache_)
            .prediction;
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
    std::optional<Prediction> usual_time(Topology const& job, Bytes bytes) {
        Topology fitted = job;
        fitted.shape = {model_.most_nodes};
        auto const before = fastest(fitted, bytes);
        return before ? time(job, bytes, *before->candidate) : std::nullopt;
    }

    void append(Topology const& job, Bytes bytes, Candidate const& choice, Prediction const& us,
                Prediction const& usual_us, std::vector<tuning::Rule>& rules) const {
        constexpr double ns = nanoseconds_per_microsecond;
        tuning::Rule rule;
        rule.id = fmt::format("p{:04}", rules.size() + 1);
        rule.scope = "mpi";
        rule.when.operation = operation_;
        rule.when.bytes = tuning::ByteInterval{bytes, bytes};
        auto const ranks = static_cast<std::uint64_t>(job.ranks());
        auto const nodes = static_cast<std::uint64_t>(job.nodes());
        rule.when.ranks = tuning::CountInterval{ranks, ranks};
        rule.when.nodes = tuning::CountInterval{nodes, nodes};
        rule.when.memory = "host";
        if (operation_ == TunedOperation::exchange) {
            rule.when.uniform = true;
        }
        rule.choose = {"mpi",
                       fmt::format("algorithm:{}={}", name_in_tables(kind_of(operation_)), choice.algorithm.name),
                       choice.algorithm,
                       {}};
        Evidence evidence;
        evidence.sizes = {bytes};
        evidence.choice_ns = us.time_us * ns;
        evidence.default_ns = usual_us.time_us * ns;
        evidence.gain = 1 - us.time_us / usual_us.time_us;
        if (us.time_us != usual_us.time_us) {  // else it is the same, whatever the time is
            evidence.gain_low = 1 - us.high_us / usual_us.low_us;
            evidence.gain_high = 1 - us.low_us / usual_us.high_us;
        }
        evidence.predicted = tuning::Predicted{static_cast<std::uint64_t>(model_.most_nodes), {}};
        if (auto const error = model_.held_out.find(kind_of(operation_)); error != model_.held_out.end()) {
            evidence.predicted->held_out_error = error->second.median;
        }
        rule.evidence = std::move(evidence);
        rules.push_back(std::move(rule));
    }

    MachineModel const& model_;
    TunedOperation operation_;
    std::vector<Candidate> candidates_;
    LoadCache cache_;
};

class PredictTable {
public:
    void add_options(CLI::App& parser) {
        model_.add_to(parser, "--model", "machine model of dlmb_predict fit")->required();
        parser.add_option("--nodes", nodes_, "numbers of nodes, or shapes of a torus such as 8x8x8")
            ->required()
            ->delimiter(',');
        parser.add_option("--ranks-per-node", ranks_per_node_, "ranks per node of the jobs [1]")
            ->check(CLI::Range(1, 1024));
        parser.add_option("--sizes", sizes_, "MIN:MAX bytes of the whole vector, doubling from MIN")
            ->capture_default_str();
        parser.add_option("--family", family_, "library that will read the table: open_mpi.tuned, mpich")
            ->check(CLI::IsMember({"open_mpi.tuned", "mpich"}))
            ->capture_default_str();
        parser.add_option("--mpi-version", version_, "of that library, such as 4.1.6, which the model does not say");
        parser.add_option("-o,--output", output_, "tuning table (JSON); - prints it")->required();
    }

    int run() {
        std::string const text = read_document(model_.path());
        MachineModel const model = model_.read(text);
        tuning::TuningTable table;
        table.rules = rules_of(model);
        table.created = record::utc_now();
        BuildInfo const& info = build_info();
        table.tool = {"dlmb_predict", std::string(info.version), std::string(info.git_revision)};
        table.inputs = {{std::filesystem::path(model_.path()).filename().string(), tuning::sha256(text), {}}};
        std::map<std::string, std::string> const identity{{"system", model.system}};
        table.system = {tuning::system_key(identity), "not known", "", model.system, identity};
        if (!version_.empty()) {
            table.stack.mpi = tuning::MpiLibrary{family_ == "mpich" ? "MPICH" : "Open MPI", version_};
        }
        table.policy.metric = "time predicted by a machine model";
        table.policy.launches = 0;
        table.policy.confirm_launches = 0;
        table.policy.fdr_q = 1;  // nothing is tested
        if (table.rules.empty()) {
            print_error(fmt::format(
                "dlmb_predict: error: no rule: the model answers nothing that a table of {} holds\n", family_));
            return exit_unavailable;
        }
        tuning::sort_rules(table.rules);
        tuning::write_table(output_, table);
        if (!is_standard_output(output_)) {
            fmt::print(
                "{} predicted rules for {}, from a model fitted on {} to {} nodes\nnext      dlmb_tune show {}\n",
                table.rules.size(), model.system, model.fewest_nodes, model.most_nodes, output_);
        }
        return exit_ok;
    }

private:
    [[nodiscard]] std::vector<tuning::Rule> rules_of(MachineModel const& model) const {
        std::vector<Topology> const jobs = asked_jobs();
        std::vector<Bytes> const sizes = asked_sizes();
        std::vector<tuning::Rule> rules;
        for (TunedOperation const operation : table_operations) {
            OperationKind const collective = kind_of(operation);
            auto const left_out = [&](std::string const& what) {
                print_error(fmt::format("dlmb_predict: left out: {}{}\n", name_in_tables(collective), what));
            };
            RuleMaker maker(model, operation, family_);
            if (maker.knows_none()) {
                left_out(fmt::format(": the model has no algorithm of {}", family_));
                continue;
            }
            for (Topology const& job : jobs) {
                if (auto const why = refusal_of(model, {model.system, job, collective, ""}); !why.empty()) {
                    left_out(fmt::format(" on {} nodes: {}", job.text(), why));
                    continue;
                }
                std::size_t const undecided = maker.add(job, sizes, rules);
                if (undecided > 0) {
                    left_out(fmt::format(" on {} nodes: undecided at {} of {} sizes, the library decides", job.text(),
                                         undecided, sizes.size()));
                }
            }
        }
        return rules;
    }

    [[nodiscard]] std::vector<Topology> asked_jobs() const {
        std::vector<Topology> jobs;
        for (std::string const& nodes : nodes_) {
            Topology job = parse_nodes(nodes);
            job.ranks_per_node = ranks_per_node_;
            if (std::find(jobs.begin(), jobs.end(), job) != jobs.end()) {
                throw UsageError(fmt::format("--nodes: '{}' stands twice", nodes));
            }
            jobs.push_back(std::move(job));
        }
        return jobs;
    }

    [[nodiscard]] std::vector<Bytes> asked_sizes() const {
        auto const ends = split(sizes_, ":");
        Bytes const least = parse_bytes(ends.front(), "--sizes");
        Bytes const most = parse_bytes(ends.back(), "--sizes");
        if (ends.size() != 2 || least < 1 || least > most || most > most_size) {
            throw UsageError(fmt::format("--sizes '{}': write MIN:MAX, such as 8:16M, from 1 to 1024G", sizes_));
        }
        std::vector<Bytes> sizes;
        for (Bytes size = least; size <= most; size *= 2) {
            sizes.push_back(size);
        }
        return sizes;
    }

    ModelOption model_;
    std::vector<std::string> nodes_;
    int ranks_per_node_ = 1;
    std::string sizes_ = "8:16M";
    std::string family_ = "open_mpi.tuned";
    std::string version_;
    std::string output_;
};

}  // namespace

void add_table(CLI::App& program, int& exit_code) {
    add_command<PredictTable>(program, "table", "Make a tuning table for ranks that were not measured", exit_code);
}

}  // namespace dlmb::predict::commands
