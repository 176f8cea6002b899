// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/backends/nccl/methods.hpp"

#include "common/backends/nccl/calls.hpp"
#include "common/base/error.hpp"
#include "common/base/units.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>

namespace dlmb::nccl {
namespace {

using nccl_tuner::Algorithm;
using nccl_tuner::Function;
using nccl_tuner::ring;
using nccl_tuner::simple;

struct TunedCall {
    OperationKind kind;
    Function function;
    /// Worth asking for. Which of them the loaded NCCL has, and where, it says itself: others are skipped.
    std::span<Algorithm const> algorithms;
};

constexpr Algorithm any_of_allreduce[] = {nccl_tuner::tree,           ring,
                                          nccl_tuner::collnet_direct, nccl_tuner::collnet_chain,
                                          nccl_tuner::nvls,           nccl_tuner::nvls_tree};
constexpr Algorithm any_of_parts[] = {ring, nccl_tuner::collnet_direct, nccl_tuner::nvls, nccl_tuner::pat};
constexpr Algorithm only_ring[] = {ring};
constexpr TunedCall tuned_calls[] = {
    {OperationKind::all_reduce, nccl_tuner::all_reduce, any_of_allreduce},
    {OperationKind::reduce, nccl_tuner::reduce, only_ring},
    {OperationKind::reduce_scatter, nccl_tuner::reduce_scatter, any_of_parts},
    {OperationKind::all_gather, nccl_tuner::all_gather, any_of_parts},
    {OperationKind::broadcast, nccl_tuner::broadcast, only_ring},
};

/// Tree and ring have all protocols, the others simple only.
bool has_protocol(int algorithm, int protocol) {
    return algorithm <= ring || protocol == simple;
}

template <class Names>
int number_of(Names const& names, std::string_view name, std::string const& what) {
    auto const found = std::find(names.begin(), names.end(), name);
    if (found == names.end()) {
        std::vector<std::string> const known(names.begin(), names.end());
        throw UsageError(unknown_name(what, name, known));
    }
    return static_cast<int>(found - names.begin());
}

int read_channels(std::string_view text, std::string const& what) {
    int const channels = parse_whole<int>(text).value_or(0);
    if (channels < 1) {
        throw UsageError(fmt::format("{}: channels={}: expected a whole number from 1 up", what, text));
    }
    return channels;
}

TunedCall const* call_named(std::string_view name) {
    auto const* const found = std::find_if(std::begin(tuned_calls), std::end(tuned_calls),
                                           [name](TunedCall const& call) { return name_of(call.kind) == name; });
    return found == std::end(tuned_calls) ? nullptr : found;
}

/// Whether NCCL has to move anything by one of its collectives.
bool moves(Plan const& plan, Operation const& operation) {
    auto const* step = std::get_if<Collective>(&operation);
    return step != nullptr && are_equal(step->shares) && step->bytes > 0 && plan.groups[step->group].members.size() > 1;
}

constexpr std::string_view algorithm_knobs =
    "allreduce|reduce|reduce_scatter|allgather|broadcast=NAME, protocol=ll|ll128|simple, channels=N (default NCCL's)";

constexpr std::string_view exchange_knob = "exchange=grouped|native (default grouped)";

/// Every operation but the barrier.
constexpr OperationSet everything{OperationKind::exchange,   OperationKind::send,   OperationKind::recv,
                                  OperationKind::all_reduce, OperationKind::reduce, OperationKind::reduce_scatter,
                                  OperationKind::all_gather, OperationKind::gather, OperationKind::scatter,
                                  OperationKind::broadcast};

constexpr std::array<MethodInfo, 6> method_rows{{
    {"grouped",
     "one ncclGroup of ncclSend and ncclRecv per exchange, gather, scatter and run of messages",
     {OperationKind::exchange, OperationKind::gather, OperationKind::scatter, OperationKind::send,
      OperationKind::recv}},
    {"native",
     "ncclAlltoAll for equal packed blocks, ncclAllReduce and the library's other collectives",
     {OperationKind::exchange, OperationKind::all_reduce, OperationKind::reduce, OperationKind::reduce_scatter,
      OperationKind::all_gather, OperationKind::broadcast},
     "",
     true},
    {"graph", "the iteration captured once as a CUDA graph, then one cudaGraphLaunch", everything, exchange_knob},
    {"registered", "buffers registered: ncclCommRegister on cuda memory, symmetric windows on nccl memory", everything,
     exchange_knob},
    {"put", "ncclPutSignal into symmetric windows of the peers, ncclWaitSignal; nccl memory", write_operations},
    {algorithm_method, "native, the collectives by an algorithm and a protocol that the tuner plugin forces",
     tuned_operations, algorithm_knobs},
}};

bool read_exchange(MethodChoice const& choice, std::string_view value) {
    if (value != "grouped" && value != "native") {
        throw UsageError(fmt::format("--method {}: exchange={}: expected grouped or native", to_string(choice), value));
    }
    return value == "native";
}

/// Throws UsageError for an unknown collective, algorithm, protocol or setting, and where one of them is missing.
AlgorithmChoice read_algorithm(MethodChoice const& choice) {
    std::string const what = fmt::format("--method {}", to_string(choice));
    AlgorithmChoice read;
    bool has_protocol_knob = false;
    for (auto const& [knob, value] : choice.knobs) {
        if (TunedCall const* const call = call_named(knob)) {
            read.algorithms[call->function] = number_of(nccl_tuner::algorithm_names, value, what + ": algorithm");
        } else if (knob == "protocol") {
            read.protocol = number_of(nccl_tuner::protocol_names, value, what + ": protocol");
            has_protocol_knob = true;
        } else if (knob == "channels") {
            read.channels = read_channels(value, what);
        } else {
            throw_unknown_knob("nccl", method_rows.back(), choice, knob);
        }
    }
    if (read.algorithms.empty() || !has_protocol_knob) {
        throw UsageError(
            fmt::format("{}: nccl takes both, for example algorithm:allreduce=ring:protocol=simple", what));
    }
    return read;
}

}  // namespace

std::span<MethodInfo const> method_table() {
    return method_rows;
}

std::span<MethodInfo const> plain_methods(MemoryKind kind) {
    return std::span(method_rows).first(method_rows.size() - (kind == MemoryKind::nccl ? 1 : 2));
}

Method read_method(MethodChoice const& choice) {
    MethodInfo const& row = chosen_method(method_rows, "nccl", choice);
    std::string_view const name = row.name;
    Method method;
    if (name == algorithm_method) {
        method.algorithm = read_algorithm(choice);
        method.all_to_all = method.falls_back = true;
        return method;
    }
    method.all_to_all = method.falls_back = name == "native";
    method.graph = name == "graph";
    method.registered = name == "registered";
    for (auto const& [knob, value] : choice.knobs) {
        if (knob != "exchange") {
            throw_unknown_knob("nccl", row, choice, knob);
        }
        method.all_to_all = read_exchange(choice, value);
    }
    return method;
}

std::vector<MethodChoice> algorithm_variants(std::span<OperationUse const> uses) {
    std::vector<MethodChoice> variants;
    for (TunedCall const& call : tuned_calls) {
        if (std::none_of(uses.begin(), uses.end(), [&](OperationUse const& use) { return use.kind == call.kind; })) {
            continue;
        }
        for (Algorithm const algorithm : call.algorithms) {
            for (int protocol = 0; protocol < nccl_tuner::protocol_count; ++protocol) {
                if (has_protocol(algorithm, protocol)) {
                    variants.push_back(
                        {std::string(algorithm_method),
                         {{std::string(name_of(call.kind)),
                           std::string(nccl_tuner::algorithm_names[static_cast<std::size_t>(algorithm)])},
                          {"protocol", std::string(nccl_tuner::protocol_names[static_cast<std::size_t>(protocol)])}}});
                }
            }
        }
    }
    return variants;
}

Provenance facts_of(AlgorithmChoice const& choice) {
    Provenance facts{
        {"nccl_protocol", std::string(nccl_tuner::protocol_names[static_cast<std::size_t>(choice.protocol)])}};
    if (choice.channels > 0) {
        facts["nccl_channels"] = std::to_string(choice.channels);
    }
    for (TunedCall const& call : tuned_calls) {
        if (auto const found = choice.algorithms.find(call.function); found != choice.algorithms.end()) {
            facts[fmt::format("nccl_algorithm.{}", name_of(call.kind))] =
                nccl_tuner::algorithm_names[static_cast<std::size_t>(found->second)];
            facts[fmt::format("nccl_algorithm_id.{}", name_of(call.kind))] = std::to_string(found->second);
        }
    }
    return facts;
}

std::uint64_t calls_of(AlgorithmChoice const& choice, Plan const& plan) {
    auto const is_forced = [&](Step const& step) {
        auto const* const call =
            std::find_if(std::begin(tuned_calls), std::end(tuned_calls),
                         [&](TunedCall const& each) { return each.kind == kind_of(step.operation); });
        return moves(plan, step.operation) && call != std::end(tuned_calls) &&
               choice.algorithms.contains(call->function);
    };
    return static_cast<std::uint64_t>(std::count_if(plan.steps.begin(), plan.steps.end(), is_forced));
}

Forcing::Forcing(nccl_tuner::Control const& control, AlgorithmChoice const& choice)
    : control_(control), before_(control.counters()) {
    for (auto const& [function, algorithm] : choice.algorithms) {
        if (control.force(function, algorithm, choice.protocol, choice.channels) != 0) {
            control.clear();
            throw Error("nccl: the tuner plugin does not know the algorithm or the protocol; use that of this build");
        }
    }
}

nccl_tuner::Counters Forcing::seen() const {
    nccl_tuner::Counters const now = control_.counters();
    return {now.calls - before_.calls, now.honoured - before_.honoured, now.forbidden - before_.forbidden};
}

}  // namespace dlmb::nccl
