// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/tuning/build/cell_observation.hpp"

#include "common/base/error.hpp"
#include "common/tuning/method_params.hpp"
#include "common/tuning/whole_number.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace dlmb::tuning {
namespace {

std::string const& parameter(record::Record const& cell, std::string const& name) {
    auto const found = cell.identity.parameters.find(name);
    if (found == cell.identity.parameters.end()) {
        throw UsageError(fmt::format("cell {}: parameter '{}' is missing", cell.cell_id, name));
    }
    return found->second;
}

/// Names of patterns/collective; its alltoall and alltoallv are exchanges of equal and of unequal blocks.
Place place_of(record::Record const& cell) {
    std::string const& name = parameter(cell, "operation");
    Place place;
    bool const is_exchange = name == "alltoall" || name == "alltoallv";
    auto const operation = is_exchange ? TunedOperation::exchange : operation_named(name);
    if (!operation) {
        throw UsageError(fmt::format("cell {}: unknown operation '{}'", cell.cell_id, name));
    }
    place.operation = *operation;
    place.ranks = static_cast<std::uint64_t>(cell.identity.world.ranks);
    auto const per_node = static_cast<std::uint64_t>(cell.identity.world.ranks_per_node);
    place.nodes = (place.ranks + per_node - 1) / per_node;
    place.memory = cell.identity.memory;
    if (place.operation == TunedOperation::allreduce || place.operation == TunedOperation::reduce_scatter) {
        place.dtype = parameter(cell, "element");
        place.reduction = parameter(cell, "reduction");
    }
    place.in_place = parameter(cell, "in-place") == "on";
    if (is_exchange) {
        place.uniform = name == "alltoall";
    }
    if (name == "alltoallv") {
        auto const mean = static_cast<double>(cell.traffic.payload_bytes) / static_cast<double>(place.ranks);
        place.imbalance = imbalance_class(static_cast<double>(cell.traffic.largest_total_bytes) / std::max(mean, 1.0));
        place.skew = parameter(cell, "skew");
    }
    return place;
}

/// The message size of the command line in the operation's basis (patterns/collective/README.md).
Bytes bytes_of(record::Record const& cell, Place const& place) {
    Bytes const message = whole_number(parameter(cell, "message-size"), "message-size");
    bool const per_rank = place.operation == TunedOperation::allgather || place.operation == TunedOperation::exchange;
    return per_rank ? message * place.ranks : message;
}

/// What libraries call the operation: MPI's names and NCCL's.
std::vector<std::string> calls_of(Place const& place) {
    switch (place.operation) {
    case TunedOperation::exchange:
        return {place.uniform.value_or(true) ? "alltoall" : "alltoallv"};
    case TunedOperation::broadcast:
        return {"broadcast", "bcast"};
    case TunedOperation::reduce_scatter:
        return {"reduce_scatter", "reduce_scatter_block"};
    default:
        return {std::string(name_of(place.operation))};
    }
}

/// The facts are BACKEND_algorithm.CALL and BACKEND_algorithm_id.CALL, for every call that the method names; the family
/// is a fact as well where a backend has several libraries.
std::optional<Algorithm> algorithm_of(std::string const& backend, Place const& place, Provenance const& facts) {
    for (std::string const& call : calls_of(place)) {
        auto const name = facts.find(fmt::format("{}_algorithm.{}", backend, call));
        if (name == facts.end()) {
            continue;
        }
        auto const family = facts.find(backend + "_algorithm_family");
        Algorithm algorithm{family == facts.end() ? backend : family->second, name->second, std::nullopt, "", ""};
        if (auto const id = facts.find(fmt::format("{}_algorithm_id.{}", backend, call)); id != facts.end()) {
            algorithm.id = static_cast<std::int64_t>(whole_number(id->second, id->first));
        }
        return algorithm;
    }
    return std::nullopt;
}

}  // namespace

Observation observation_from(record::Record const& cell, std::string const& launch_id) {
    Observation seen;
    seen.place = place_of(cell);
    seen.bytes = bytes_of(cell, seen.place);
    seen.contender = {cell.identity.backend, cell.identity.method};
    seen.choice = {seen.contender.backend, seen.contender.method,
                   algorithm_of(cell.identity.backend, seen.place, cell.backend_facts),
                   params_of(parse_method(seen.contender.method).knobs)};
    seen.is_default = cell.is_default;
    seen.launch_id = launch_id;
    seen.samples = cell.result.time.samples;
    measure::CellResult const& result = cell.result;
    seen.median_ns = result.round_medians_ns.empty() ? result.time.median : result.median_of_rounds_ns;
    seen.aa_ratio = result.aa_ratio.value_or(1);
    return seen;
}

}  // namespace dlmb::tuning
