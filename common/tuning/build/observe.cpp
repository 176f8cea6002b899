// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/tuning/build/observe.hpp"

#include "common/base/error.hpp"
#include "common/tuning/provenance/system_key.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace dlmb::tuning {
namespace {

constexpr std::size_t rounds_least = 6;
constexpr std::string_view algorithm_fact = "mpi_algorithm.";

std::string const& parameter(record::Cell const& cell, std::string const& name) {
    auto const found = cell.identity.parameters.find(name);
    if (found == cell.identity.parameters.end()) {
        throw UsageError(fmt::format("cell {}: parameter '{}' is missing", cell.cell_id, name));
    }
    return found->second;
}

std::uint64_t number(std::string_view text, std::string_view what) {
    std::uint64_t value = 0;
    auto const [end, failed] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (failed != std::errc{} || end != text.data() + text.size()) {
        throw UsageError(fmt::format("{} '{}' is no whole number", what, text));
    }
    return value;
}

/// Names of patterns/collective; its alltoall and alltoallv are exchanges of equal and of unequal blocks.
Place place_of(record::Cell const& cell) {
    std::string const& name = parameter(cell, "operation");
    Place place;
    bool const is_exchange = name == "alltoall" || name == "alltoallv";
    auto const operation = is_exchange ? TunedOperation::exchange : operation_named(name);
    if (!operation) {
        throw UsageError(fmt::format("cell {}: unknown operation '{}'", cell.cell_id, name));
    }
    place.operation = *operation;
    place.ranks = static_cast<std::uint64_t>(cell.identity.world.ranks);
    place.nodes = place.ranks / static_cast<std::uint64_t>(cell.identity.world.ranks_per_node);
    place.memory = cell.identity.memory;
    if (place.operation == TunedOperation::allreduce || place.operation == TunedOperation::reduce_scatter) {
        place.dtype = parameter(cell, "element");
        place.reduction = parameter(cell, "reduction");
    }
    place.in_place = parameter(cell, "in-place") == "on";
    if (is_exchange) {
        place.uniform = name == "alltoall";
    }
    return place;
}

/// The message size of the command line in the operation's basis (patterns/collective/README.md).
Bytes bytes_of(record::Cell const& cell, Place const& place) {
    Bytes const message = number(parameter(cell, "message-size"), "message-size");
    bool const per_rank = place.operation == TunedOperation::allgather || place.operation == TunedOperation::exchange;
    return per_rank ? message * place.ranks : message;
}

std::optional<Algorithm> algorithm_of(Provenance const& facts) {
    auto const family = facts.find("mpi_algorithm_family");
    if (family == facts.end()) {
        return std::nullopt;
    }
    Algorithm algorithm;
    algorithm.family = family->second;
    for (auto const& [name, value] : facts) {
        if (name.starts_with(algorithm_fact)) {
            algorithm.name = value;
            auto const id = facts.find("mpi_algorithm_id." + name.substr(algorithm_fact.size()));
            if (id != facts.end()) {
                algorithm.id = static_cast<std::int64_t>(number(id->second, id->first));
            }
        }
    }
    return algorithm;
}

ChoiceParams params_of(MethodChoice const& method) {
    ChoiceParams params;
    for (auto const& [knob, value] : method.knobs) {
        if (knob == "segment") {
            params.segment_bytes = parse_bytes(value, knob);
        } else if (knob == "tree_fanout" || knob == "chain_fanout") {
            params.fanout = number(value, knob);
        } else if (knob == "max_requests") {
            params.max_requests = number(value, knob);
        } else if (knob == "max_outstanding") {
            params.max_outstanding = number(value, knob);
        } else if (knob == "radix") {
            params.radix = number(value, knob);
        }
    }
    return params;
}

std::uint64_t processing_units(record::Launch const& launch) {
    auto const found = launch.environment.identity.find("processing_units");
    return found == launch.environment.identity.end() ? 0 : number(found->second, "processing_units");
}

}  // namespace

Observation observation_from(record::Cell const& cell, std::string const& launch_id) {
    Observation seen;
    seen.place = place_of(cell);
    seen.bytes = bytes_of(cell, seen.place);
    seen.contender = {cell.identity.backend, cell.identity.method};
    seen.choice = {seen.contender.backend, seen.contender.method, algorithm_of(cell.backend_facts),
                   params_of(parse_method(seen.contender.method))};
    seen.is_default = cell.is_default;
    seen.launch_id = launch_id;
    seen.samples = cell.result.time.samples;
    measure::CellResult const& result = cell.result;
    seen.median_ns = result.round_medians_ns.empty() ? result.time.median : result.median_of_rounds_ns;
    seen.aa_ratio = result.aa_ratio.value_or(1);
    return seen;
}

bool Observations::competes(record::Cell const& cell) const {
    auto const& methods = accepted_.methods;
    return cell.is_default || methods.empty() ||
           std::find(methods.begin(), methods.end(), parse_method(cell.identity.method).name) != methods.end();
}

std::string Observations::why_not(record::Cell const& cell, record::Launch const& launch) const {
    if (cell.identity.pattern != "collective") {
        return "is not of dlmb_collective, whose cells are one operation each";
    }
    if (cell.identity.backend == "tuned") {
        return "is of backend tuned, which hands on to the others";
    }
    if (cell.identity.mode != accepted_.timing) {
        return fmt::format("is not of --timing {}", accepted_.timing);
    }
    if (!competes(cell)) {
        return "is of a method that --methods leaves out";
    }
    if (cell.result.status != measure::Status::ok) {
        return fmt::format("has status {}", measure::name_of(cell.result.status));
    }
    if (cell.result.validation.verdict != measure::Verdict::passed) {
        return "was not validated";
    }
    if (cell.result.throttled.value_or(false)) {
        return "was measured while the clocks of a GPU were held down";
    }
    if (cell.result.below_floor.value_or(false)) {
        return "is shorter than this launch's clock can tell";
    }
    if (cell.identity.fill != measure::Fill::random) {
        return "moved zeros";
    }
    if (cell.shared_gpu || record::on_test_double(launch.environment)) {
        return "ran on a shared GPU or on a test double";
    }
    std::uint64_t const units = processing_units(launch);
    if (!accepted_.oversubscribed && units > 0 && static_cast<std::uint64_t>(launch.world.ranks_per_node) > units) {
        return "had more ranks than processing units (--accept oversubscribed)";
    }
    if (!accepted_.quick && cell.result.round_medians_ns.size() < rounds_least) {
        return "has fewer than six rounds (--accept quick)";
    }
    return {};
}

void Observations::add_system(record::Launch const& launch, std::string const& name) {
    std::string const key = system_key(launch.environment.identity);
    if (system_.key.empty()) {
        auto const& identity = launch.environment.identity;
        auto const cpu = identity.find("cpu_model");
        auto const mpi = identity.find("mpi_library");
        system_.key = key;
        system_.cpu = cpu == identity.end() ? "" : cpu->second;
        if (mpi != identity.end() && !mpi->second.empty()) {
            stack_.mpi = MpiLibrary{mpi->second.substr(0, mpi->second.find(',')), "", {}};
        }
        stack_.environment = launch.environment.variables;
    }
    if (key != system_.key) {
        throw UsageError(
            fmt::format("{}: launch {} ran on another system ({} instead of {}); one table is for one system", name,
                        launch.launch_id, key, system_.key));
    }
}

void Observations::require_one_cache_mode(record::Cell const& cell, std::string const& name) {
    cache_ = cache_.value_or(cell.identity.cache);
    if (*cache_ != cell.identity.cache) {
        throw UsageError(
            fmt::format("{}: cell {} is of another --cache than those before ({} instead of {}); build from one", name,
                        cell.cell_id, measure::name_of(cell.identity.cache), measure::name_of(*cache_)));
    }
}

void Observations::add(record::ResultFile const& file, std::string const& name) {
    std::map<std::string, record::Launch const*> launches;
    for (record::Launch const& launch : file.launches) {
        add_system(launch, name);
        launches[launch.launch_id] = &launch;
    }
    for (record::StoredCell const& stored : file.cells) {
        ++cells_;
        std::string const reason = why_not(stored.cell, *launches.at(stored.launch_id));
        if (reason.empty()) {
            require_one_cache_mode(stored.cell, name);
            kept_.push_back(observation_from(stored.cell, stored.launch_id));
        } else {
            ++refused_[reason];
        }
    }
}

}  // namespace dlmb::tuning
