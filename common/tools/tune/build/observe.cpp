// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/tools/tune/build/observe.hpp"

#include "common/base/error.hpp"
#include "common/base/names/names.hpp"
#include "common/formats/plan/plan.hpp"
#include "common/formats/table/provenance.hpp"
#include "common/formats/table/table.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <tuple>

namespace dlmb::tuning {
namespace {

/// Empty: it is not told.
template <class Texts>
std::string text_of(Texts const& texts, std::string const& name) {
    auto const found = texts.find(name);
    return found == texts.end() ? "" : found->second;
}

/// Empty where a converted cell does not say it.
std::string parameter(record::Record const& cell, std::string const& name) {
    auto const found = cell.identity.parameters.find(name);
    if (found == cell.identity.parameters.end()) {
        if (cell.origin) {
            return {};
        }
        throw UsageError(fmt::format("cell {}: parameter '{}' is missing", cell.cell_id, name));
    }
    return found->second;
}

/// By the names of patterns/collective: alltoall and alltoallv are exchanges of equal and of unequal blocks, and rules
/// for reduce_scatter are of equal parts. Its reduce_scatter is another call of MPI.
std::optional<TunedOperation> tuned_operation(std::string const& name) {
    if (name == "reduce_scatter_block") {
        return TunedOperation::reduce_scatter;
    }
    if (name == "reduce_scatter") {
        return std::nullopt;
    }
    bool const is_exchange = name == "alltoall" || name == "alltoallv";
    return is_exchange ? TunedOperation::exchange : operation_named(name);
}

/// Without the size.
Key conditions_of(record::Record const& cell) {
    std::string const name = parameter(cell, "operation");
    Key key;
    auto const operation = tuned_operation(name);
    if (!operation) {
        throw UsageError(fmt::format("cell {}: unknown operation '{}'", cell.cell_id, name));
    }
    key.operation = *operation;
    key.ranks = static_cast<std::uint64_t>(cell.identity.world.ranks);
    auto const per_node = static_cast<std::uint64_t>(cell.identity.world.ranks_per_node);
    key.nodes = (*key.ranks + per_node - 1) / per_node;
    key.memory = cell.identity.memory;
    if (key.operation == TunedOperation::allreduce || key.operation == TunedOperation::reduce_scatter) {
        key.dtype = parameter(cell, "element");
        key.reduction = parameter(cell, "reduction");
    }
    key.in_place = parameter(cell, "in-place") == "on";
    if (operation == TunedOperation::exchange) {
        key.uniform = name == "alltoall";
    }
    if (name == "alltoallv") {
        auto const mean = static_cast<double>(cell.traffic.payload_bytes) / static_cast<double>(*key.ranks);
        key.imbalance =
            imbalance_class(static_cast<double>(cell.traffic.largest_total_bytes) / std::max(mean, 1.0)).min;
    }
    return key;
}

/// The message size of the command line in the operation's basis (patterns/collective/README.md). A measured
/// reduce_scatter moved whole elements for each rank.
Bytes bytes_of(record::Record const& cell, Key const& key) {
    Bytes const message = whole_number(parameter(cell, "message-size"), "message-size");
    auto const element = element_named(key.dtype);
    if (key.operation == TunedOperation::reduce_scatter && element && !cell.origin) {
        Bytes const unit = size_of(*element) * *key.ranks;
        return (message + unit - 1) / unit * unit;
    }
    bool const per_rank = key.operation == TunedOperation::allgather || key.operation == TunedOperation::exchange;
    return per_rank ? message * *key.ranks : message;
}

/// Names of the operation in libraries: NCCL's and UCC's, and MPI's.
std::vector<std::string> calls_of(Key const& key) {
    std::vector<std::string> calls{std::string(name_of(key.operation))};
    if (auto const call = mpi_call_for(kind_of(key.operation), key.uniform.value_or(true))) {
        calls.emplace_back(name_of(*call));
    }
    return calls;
}

/// The facts are BACKEND_algorithm.CALL and BACKEND_algorithm_id.CALL, for every call that the method names; the family
/// is a fact as well where a backend has several libraries.
std::optional<Algorithm> algorithm_of(std::string const& backend, Key const& key, record::BackendFacts const& facts) {
    for (std::string const& call : calls_of(key)) {
        std::string const name = text_of(facts, fmt::format("{}_algorithm.{}", backend, call));
        if (name.empty()) {
            continue;
        }
        std::string const family = text_of(facts, backend + "_algorithm_family");
        Algorithm algorithm{family.empty() ? backend : family, name, std::nullopt};
        std::string const fact = fmt::format("{}_algorithm_id.{}", backend, call);
        if (std::string const id = text_of(facts, fact); !id.empty()) {
            algorithm.id = static_cast<std::int64_t>(whole_number(id, fact));
        }
        return algorithm;
    }
    return std::nullopt;
}

/// What measured and converted cells tell alike.
Observation observation_from(record::StoredCell const& stored) {
    record::Record const& cell = stored.cell;
    Observation seen;
    seen.key = conditions_of(cell);
    seen.key.bytes = bytes_of(cell, seen.key);
    seen.competitor = {cell.identity.backend, cell.identity.method};
    seen.choice.backend = cell.identity.backend;
    seen.choice.method = cell.identity.method;
    seen.choice.algorithm = algorithm_of(cell.identity.backend, seen.key, cell.backend_facts);
    seen.is_default = cell.is_default;
    seen.launch_id = stored.launch_id;
    seen.samples = cell.result.time.samples;
    seen.median_ns = cell.result.time.median;
    return seen;
}

Observation measured_observation(record::StoredCell const& stored) {
    Observation seen = observation_from(stored);
    seen.skew = seen.key.imbalance ? parameter(stored.cell, "skew") : "";
    seen.choice.params = params_of(parse_method(seen.choice.method).knobs);
    record::CellResult const& result = stored.cell.result;
    seen.median_ns = result.round_medians_ns.empty() ? seen.median_ns : result.median_of_rounds_ns;
    seen.aa_ratio = result.aa_ratio.value_or(1);
    return seen;
}

/// A converted cell has the method's name of its origin. Where that is an algorithm of the library, it is told as
/// --method tells it.
Observation foreign_observation(record::StoredCell const& stored) {
    record::Record const& cell = stored.cell;
    Observation seen = observation_from(stored);
    for (std::string const& call : calls_of(seen.key)) {
        std::string const name = text_of(cell.backend_facts, fmt::format("{}_algorithm.{}", seen.choice.backend, call));
        if (!name.empty()) {
            seen.choice.method = fmt::format("{}:{}={}", algorithm_method, call, name);
            break;
        }
    }
    seen.foreign = Foreign{cell.origin->suite, cell.origin->statistic};
    return seen;
}

template <class Words>
bool knows(Words const& words, std::string const& word) {
    return word.empty() || std::find(words.begin(), words.end(), word) != words.end();
}

/// NCCL_VERSION of nccl.h since 2.9: 22809 is 2.28.9.
std::string dotted(std::uint64_t code) {
    return fmt::format("{}.{}.{}", code / 10000, code / 100 % 100, code % 100);
}

constexpr std::size_t rounds_least = 6;

/// The method of backend mpi that calls MPI_Alltoall.
constexpr char const* mpi_alltoall = "alltoall";

/// Whether the cell is MPI's alltoall of equal blocks, which method mpi_alltoall does by MPI_Alltoall.
bool has_equal_blocks(record::Record const& cell) {
    return cell.identity.backend == "mpi" && text_of(cell.identity.parameters, "operation") == "alltoall";
}

}  // namespace

RatioInterval imbalance_class(double imbalance) {
    double const value = std::max(imbalance, 1.0);  // a sum of rounded shares
    auto const edge = [](double half_octave) { return std::exp2(half_octave / 2); };
    double half_octave = std::floor(2 * std::log2(value));
    half_octave += value >= edge(half_octave + 1) ? 1 : 0;
    half_octave -= value < edge(half_octave) ? 1 : 0;
    return {edge(half_octave), std::nextafter(edge(half_octave + 1), 1.0)};
}

Versions library_versions(record::Record const& cell) {
    Versions versions;
    for (std::string const library : {"ucx", "ucc", "nccl"}) {
        std::string const version = text_of(cell.backend_facts, library + "_version");
        if (!version.empty()) {
            versions[library] = library == "nccl" ? dotted(whole_number(version, "nccl_version")) : version;
        }
    }
    return versions;
}

std::string difference(Conditions const& these, Conditions const& first) {
    auto const text = [](std::string_view what, std::string_view mine, std::string_view other) {
        return fmt::format("{} {} instead of {}", what, mine, other);
    };
    if (!these.timing.empty() && !first.timing.empty() && these.timing != first.timing) {
        return text("--timing", these.timing, first.timing);
    }
    if (these.beside && first.beside && these.beside != first.beside) {
        return text("--beside", *these.beside, *first.beside);
    }
    if (these.cache && first.cache && these.cache != first.cache) {
        return text("--cache", record::name_of(*these.cache), record::name_of(*first.cache));
    }
    for (auto const& [library, version] : these.versions) {
        auto const found = first.versions.find(library);
        if (found != first.versions.end() && found->second != version) {
            return text(library, version, found->second);
        }
    }
    return {};
}

bool Observations::is_default(record::Record const& cell) const {
    bool const for_files = !accepted_.methods.empty();
    return for_files && has_equal_blocks(cell) ? cell.identity.method == mpi_alltoall : cell.is_default;
}

bool Observations::is_asked_for(std::string_view method) const {
    auto const& methods = accepted_.methods;
    return methods.empty() || std::find(methods.begin(), methods.end(), method) != methods.end();
}

std::string Observations::why_not(record::Record const& cell, record::Launch const& launch) const {
    if (cell.identity.pattern != "collective") {
        return "is not of dlmb_collective, whose cells are one operation each";
    }
    if (std::string const operation = parameter(cell, "operation"); !tuned_operation(operation)) {
        return fmt::format("is of {}, which no table chooses for", operation);
    }
    auto const is_other = [&](char const* name, std::string_view only) {
        std::string const value = text_of(cell.identity.parameters, name);
        return !value.empty() && value != only;
    };
    if (is_other("compute", "none")) {
        return "computes meanwhile (--compute)";
    }
    if (is_other("route", "ring")) {
        return "is of another --route than ring";
    }
    if (cell.identity.backend == "tuned") {
        return "is of backend tuned, which hands on to the others";
    }
    if (cell.identity.world.ranks_per_node < 1) {
        return "ran on nodes with unequal numbers of ranks";
    }
    if (!accepted_.timing.empty() && cell.identity.mode != accepted_.timing) {
        return fmt::format("is not of --timing {}", accepted_.timing);
    }
    if (!accepted_.beside.empty() && record::beside_text(cell.identity.beside) != accepted_.beside) {
        return fmt::format("is not of --beside {}", accepted_.beside);
    }
    if (cell.identity.mode != isolated_timing && cell.identity.mode != stream_timing) {
        return fmt::format("is of --timing {}, and tables are of isolated or stream", cell.identity.mode);
    }
    if (!is_default(cell) && !is_asked_for(parse_method(cell.identity.method).name)) {
        return "is of a method that --methods leaves out";
    }
    if (cell.result.status != record::Status::ok) {
        return fmt::format("has status {}", record::name_of(cell.result.status));
    }
    if (cell.result.validation.verdict != record::Verdict::passed) {
        return "was not validated";
    }
    auto const& flags = cell.result.flags;
    if (std::find(flags.begin(), flags.end(), record::assumed_nodes_flag) != flags.end()) {
        return "was planned for nodes that the launch did not have (--ranks-per-node)";
    }
    if (cell.result.throttled.value_or(false)) {
        return "was throttled: clocks of a GPU were held down, or a quota of processor time was used up";
    }
    if (cell.result.below_floor.value_or(false)) {
        return "is shorter than this launch's clock can tell";
    }
    if (cell.identity.fill != record::Fill::random) {
        return "moved zeros";
    }
    if (cell.shared_gpu || record::on_test_double(launch.environment)) {
        return "ran on a shared GPU or on a test double";
    }
    return {};
}

bool Observations::is_accepted(record::Record const& cell, record::Launch const& launch) {
    std::string const units = text_of(launch.environment.identity, "processing_units");
    std::uint64_t const most_ranks = units.empty() ? 0 : whole_number(units, "processing_units");
    std::vector<std::string> reasons;
    std::vector<std::string> words;
    if (!accepted_.oversubscribed && most_ranks > 0 &&
        static_cast<std::uint64_t>(launch.world.ranks_per_node) > most_ranks) {
        reasons.emplace_back("had more ranks than processing units");
        words.emplace_back("oversubscribed");
    }
    if (!accepted_.quick && cell.result.round_medians_ns.size() < rounds_least) {
        reasons.emplace_back("has fewer than six rounds");
        words.emplace_back("quick");
    }
    if (words.empty()) {
        return true;
    }
    ++refused_[fmt::format("{} (--accept {})", fmt::join(reasons, " and "), fmt::join(words, ","))];
    ++acceptable_cells_;
    acceptable_.insert(words.begin(), words.end());
    return false;
}

std::string Observations::why_not_foreign(record::Record const& cell, record::Launch const& launch) const {
    std::string const operation = parameter(cell, "operation");
    if (!tuned_operation(operation) || operation == "alltoallv") {
        return fmt::format("is of {}, which converted results say too little of, or no table chooses for", operation);
    }
    if (cell.result.status != record::Status::ok) {
        return fmt::format("has status {}", record::name_of(cell.result.status));
    }
    if (!(cell.result.time.median > 0)) {
        return "has no time";
    }
    if (cell.identity.world.ranks < 1 || cell.identity.world.ranks_per_node < 1) {
        return "does not say its ranks and its ranks per node (dlmb_convert --ranks, --ranks-per-node)";
    }
    std::string const& memory = cell.identity.memory;
    if (memory.empty() || !knows(memory_words, memory)) {
        return fmt::format("is on memory '{}', which no rule can ask for", memory);
    }
    if (!is_of_host(memory) && text_of(launch.environment.identity, "gpus").empty()) {
        return "is on memory of a GPU that is not named";
    }
    if (!parse_whole<std::uint64_t>(parameter(cell, "message-size"))) {
        return "has a size that is no whole number of bytes for each rank";
    }
    if (!knows(element_words, parameter(cell, "element")) || !knows(reduction_words, parameter(cell, "reduction"))) {
        return "is of an element or a reduction that tables do not have";
    }
    return {};
}

void Observations::add_foreign(record::StoredCell const& stored, record::Launch const& launch,
                               std::string const& name) {
    record::Record const& cell = stored.cell;
    if (std::string const reason = why_not_foreign(cell, launch); !reason.empty()) {
        ++refused_[reason];
        return;
    }
    Observation seen = foreign_observation(stored);
    if (!seen.is_default && !is_asked_for(seen.choice.algorithm ? algorithm_method : seen.choice.method)) {
        ++refused_["is of a method that --methods leaves out"];
        return;
    }
    std::string const& definition = cell.result.definition;
    foreign_definition_ = foreign_definition_.empty() ? definition : foreign_definition_;
    if (definition != foreign_definition_) {
        throw UsageError(fmt::format("{}: cell {} is a time of another definition than those before ('{}' instead of "
                                     "'{}'); build from one",
                                     name, cell.cell_id, definition, foreign_definition_));
    }
    kept_.push_back(std::move(seen));
}

void Observations::add_system(record::Launch const& launch, std::string const& name) {
    auto identity = launch.environment.identity;
    if (foreign_.value_or(launch.origin.has_value()) != launch.origin.has_value()) {
        throw UsageError(fmt::format("{}: converted results and measured ones make no table together; build from one "
                                     "kind",
                                     name));
    }
    foreign_ = launch.origin.has_value();
    std::string const owner_name = text_of(identity, "system");
    if (*foreign_ && owner_name.empty()) {
        throw UsageError(fmt::format("{}: does not name the system that it was measured on, and a table is for one; "
                                     "convert with --system NAME",
                                     name));
    }
    identity.erase("job_shape");  // as the number of nodes, which one table may have several of
    identity = system_identity(identity);
    std::string const key = system_key(identity);
    if (system_.key.empty()) {
        std::string const cpu = *foreign_ ? "not known" : text_of(identity, "cpu_model");
        system_ = {key, cpu, text_of(identity, "gpus"), *foreign_ ? owner_name : "", identity};
        if (std::string const mpi = text_of(identity, "mpi_library"); !mpi.empty()) {
            stack_.mpi = mpi_library(mpi);
        }
        stack_.environment = launch.environment.variables;
    }
    if (key != system_.key && *foreign_) {
        std::string const first = stack_.mpi ? fmt::format(", {} {}", stack_.mpi->name, stack_.mpi->version) : "";
        throw UsageError(fmt::format("{}: has launches of several systems or libraries ({}, {} beside {}{}); one table "
                                     "is for one: choose it by dlmb_convert --only",
                                     name, owner_name, text_of(identity, "mpi_library"), system_.name, first));
    }
    if (key != system_.key) {
        throw UsageError(fmt::format("{}: launch {} ran on another system ({}); one table is for one system", name,
                                     launch.launch_id, system_differences(identity, system_.identity)));
    }
}

void Observations::require_alike(record::Record const& cell, std::string const& name) {
    Conditions these{cell.identity.mode, record::beside_text(cell.identity.beside), cell.identity.cache,
                     library_versions(cell)};
    if (std::string const other = difference(these, conditions_); !other.empty()) {
        throw UsageError(fmt::format("{}: cell {} is of {} like those before; build from one (--timing and --beside "
                                     "choose)",
                                     name, cell.cell_id, other));
    }
    stack_.versions.insert(these.versions.begin(), these.versions.end());
    these.versions = stack_.versions;
    conditions_ = std::move(these);
}

std::uint64_t without_default(std::vector<Observation> const& all) {
    auto const place_of = [](Observation const& seen) {
        return std::tie(seen.launch_id, seen.competitor.backend, seen.key);
    };
    std::set<decltype(place_of(all.front()))> defaults;
    for (Observation const& seen : all) {
        if (seen.is_default) {
            defaults.insert(place_of(seen));
        }
    }
    return static_cast<std::uint64_t>(std::count_if(
        all.begin(), all.end(), [&](Observation const& seen) { return !defaults.contains(place_of(seen)); }));
}

void Observations::add(record::ResultFile const& file, std::string const& name) {
    std::map<std::string, record::Launch const*> launches;
    for (record::Launch const& launch : file.launches) {
        add_system(launch, name);
        launches[launch.launch_id] = &launch;
    }
    for (record::StoredCell const& stored : file.cells) {
        ++cells_;
        if (stored.cell.origin) {
            add_foreign(stored, *launches.at(stored.launch_id), name);
            continue;
        }
        std::string const reason = why_not(stored.cell, *launches.at(stored.launch_id));
        if (!reason.empty()) {
            ++refused_[reason];
            continue;
        }
        if (!is_accepted(stored.cell, *launches.at(stored.launch_id))) {
            continue;
        }
        Observation seen = measured_observation(stored);
        seen.is_default = is_default(stored.cell);
        if (!accepted_.methods.empty() && !seen.is_default && !seen.choice.algorithm &&
            parse_method(seen.choice.method).name == algorithm_method) {
            ++refused_["names an algorithm of another call than the operation's, which no file can say"];
            continue;
        }
        auto const& parameters = stored.cell.identity.parameters;
        auto const [point, is_new] = points_.try_emplace({stored.launch_id, seen.key}, parameters);
        if (!is_new && parameter(stored.cell, "message-size") != point->second.at("message-size")) {
            ++refused_["moves as many bytes as an earlier cell of its launch, in whole elements per rank"];
            continue;
        }
        if (!is_new && point->second != parameters) {
            ++refused_["differs from an earlier cell of its launch only in what rules do not know (a list of "
                       "--element, --root, --skew ...)"];
            continue;
        }
        require_alike(stored.cell, name);
        kept_.push_back(std::move(seen));
    }
}

}  // namespace dlmb::tuning
