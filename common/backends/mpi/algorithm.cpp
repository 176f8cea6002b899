// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Method algorithm: the blocking calls, each by an algorithm of the library that the user names.
#include "common/backends/mpi/algorithm_catalogue.hpp"
#include "common/backends/mpi/methods.hpp"
#include "common/base/error.hpp"
#include "common/base/parse_whole.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <set>

namespace dlmb::mpi {
namespace {

struct CallFacts {
    CollectiveCall call;
    std::string_view name;
    OperationKind operation;
};
constexpr CallFacts call_facts[] = {
    {CollectiveCall::allreduce, "allreduce", OperationKind::all_reduce},
    {CollectiveCall::reduce_scatter_block, "reduce_scatter_block", OperationKind::reduce_scatter},
    {CollectiveCall::allgather, "allgather", OperationKind::all_gather},
    {CollectiveCall::bcast, "bcast", OperationKind::broadcast},
    {CollectiveCall::alltoall, "alltoall", OperationKind::exchange},
    {CollectiveCall::alltoallv, "alltoallv", OperationKind::exchange},
};

CallFacts const& facts_of(CollectiveCall call) {
    auto const* const found = std::find_if(std::begin(call_facts), std::end(call_facts),
                                           [call](CallFacts const& facts) { return facts.call == call; });
    if (found == std::end(call_facts)) {
        throw Error("collective call out of range");
    }
    return *found;
}

constexpr Bytes most = std::numeric_limits<std::int32_t>::max();  // what the variables of the libraries hold

std::int64_t read_setting(AlgorithmSetting setting, std::string_view text) {
    std::string const option = fmt::format("--method algorithm:{}", name_of(setting));
    if (setting == AlgorithmSetting::segment) {
        Bytes const bytes = parse_bytes(text, option);
        if (bytes > most) {
            throw UsageError(fmt::format("{}={}: expected less than 2G", option, text));
        }
        return static_cast<std::int64_t>(bytes);
    }
    std::int32_t const number = parse_whole<std::int32_t>(text).value_or(-1);
    if (number < 0) {
        throw UsageError(fmt::format("{}={}: expected a whole number from 0 up", option, text));
    }
    return number;
}

constexpr Bytes kibi = 1024;

bool serves(CollectiveCall call, OperationUse const& use) {
    return operation_of(call) == use.kind && (call != CollectiveCall::alltoall || use.uniform);
}

bool serves(CollectiveCall call, std::span<OperationUse const> uses) {
    return std::any_of(uses.begin(), uses.end(), [&](OperationUse const& use) { return serves(call, use); });
}

bool read_algorithm_knob(ChosenMethod& method, std::string_view knob, std::string_view value) {
    AlgorithmChoice& choice = method.algorithms;
    for (CollectiveCall const call : every_collective_call) {
        if (knob == name_of(call)) {
            choice.algorithms[call] = value;
            bool const packed = choice.exchange_call() == CollectiveCall::alltoall;
            method.calls = &find_direct_method(packed ? "alltoall" : "alltoallv");
            return true;
        }
    }
    for (AlgorithmSetting const setting : every_algorithm_setting) {
        if (knob == name_of(setting)) {
            choice.settings[setting] = read_setting(setting, value);
            return true;
        }
    }
    return false;
}

PreparedCall compile_by_calls(Operation const& operation, CompileContext const& context) {
    return compile_by(*context.method.calls, operation, context);
}

}  // namespace

std::string_view name_of(CollectiveCall call) {
    return facts_of(call).name;
}

OperationKind operation_of(CollectiveCall call) {
    return facts_of(call).operation;
}

std::string_view name_of(AlgorithmSetting setting) {
    switch (setting) {
    case AlgorithmSetting::segment:
        return "segment";
    case AlgorithmSetting::tree_fanout:
        return "tree_fanout";
    case AlgorithmSetting::chain_fanout:
        return "chain_fanout";
    case AlgorithmSetting::max_requests:
        break;
    }
    return "max_requests";
}

std::optional<CollectiveCall> AlgorithmChoice::exchange_call() const {
    for (CollectiveCall const call : {CollectiveCall::alltoall, CollectiveCall::alltoallv}) {
        if (algorithms.contains(call)) {
            return call;
        }
    }
    return std::nullopt;
}

std::string knobs_of(AlgorithmCatalogue const& catalogue) {
    std::vector<std::string> knobs;
    std::set<AlgorithmSetting> settings;
    for (auto const& [call, offered] : catalogue.calls) {
        std::vector<std::string> names;
        for (NamedValue const& item : offered.algorithms) {
            names.push_back(item.name);
        }
        knobs.push_back(fmt::format("{}={}", name_of(call), fmt::join(names, "|")));
        for (auto const& [setting, variable] : offered.settings) {
            settings.insert(setting);
        }
    }
    for (AlgorithmSetting const setting : settings) {
        knobs.push_back(fmt::format("{}={}", name_of(setting), setting == AlgorithmSetting::segment ? "SIZE" : "N"));
    }
    return knobs.empty() ? fmt::format("(none: {})", catalogue.why_not) : fmt::format("{}", fmt::join(knobs, ", "));
}

std::vector<MethodChoice> algorithm_variants(AlgorithmCatalogue const& catalogue, std::span<OperationUse const> uses) {
    std::vector<MethodChoice> variants;
    for (CollectiveCall const call : every_collective_call) {
        if (!serves(call, uses)) {
            continue;
        }
        if (!catalogue.why_not.empty()) {
            return {{std::string(algorithm_method), {}}};
        }
        auto const offered = catalogue.calls.find(call);
        if (offered == catalogue.calls.end()) {
            continue;
        }
        for (NamedValue const& item : offered->second.algorithms) {
            for (Bytes const segment : catalogue.segments(call, item.name)) {
                MethodChoice choice{std::string(algorithm_method), {{std::string(name_of(call)), item.name}}};
                if (segment > 0) {
                    choice.knobs.emplace(name_of(AlgorithmSetting::segment), fmt::format("{}K", segment / kibi));
                }
                variants.push_back(std::move(choice));
            }
        }
    }
    return variants;
}

AlgorithmCatalogue find_algorithms(std::string_view version) {
    start_tool_interface();
    if (ControlVariable::find("coll_tuned_use_dynamic_rules")) {
        return open_mpi_algorithms();
    }
    if (ControlVariable::find("MPIR_CVAR_ALLREDUCE_INTRA_ALGORITHM")) {
        return mpich_algorithms(version);
    }
    AlgorithmCatalogue none;
    none.why_not = fmt::format("this library ({}) has no variables that choose an algorithm", version);
    return none;
}

Method algorithm() {
    return {.info = {algorithm_method, "the blocking calls by an algorithm that the library has for them",
                     collective_operations, "CALL=NAME (what this library offers)"},
            .compile = compile_by_calls,
            .read_knob = read_algorithm_knob,
            .kind = MethodKind::algorithm};
}

}  // namespace dlmb::mpi
