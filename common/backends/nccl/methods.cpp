// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/backends/nccl/methods.hpp"

#include "common/base/error.hpp"
#include "common/base/suggest.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>

namespace dlmb::nccl {
namespace {

constexpr std::string_view exchange_knob = "exchange=grouped|native (default grouped)";

constexpr std::array<MethodInfo, 5> table{{
    {"grouped",
     "one ncclGroup of ncclSend and ncclRecv per exchange and per run of messages",
     {OperationKind::exchange, OperationKind::send, OperationKind::recv}},
    {"native",
     "ncclAlltoAll for equal packed blocks, ncclAllReduce and the library's other collectives",
     {OperationKind::exchange, OperationKind::all_reduce, OperationKind::reduce_scatter, OperationKind::all_gather,
      OperationKind::broadcast},
     "",
     true},
    {"graph", "the iteration captured once as a CUDA graph, then one cudaGraphLaunch", every_operation, exchange_knob},
    {"registered", "buffers registered: ncclCommRegister on cuda memory, symmetric windows on nccl memory",
     every_operation, exchange_knob},
    {algorithm_method, "native, the collectives by an algorithm and a protocol that the tuner plugin forces",
     tuned_operations, algorithm_knobs},
}};

bool read_exchange(MethodChoice const& choice, std::string_view value) {
    if (value != "grouped" && value != "native") {
        throw UsageError(fmt::format("--method {}: exchange={}: expected grouped or native", to_string(choice), value));
    }
    return value == "native";
}

}  // namespace

std::span<MethodInfo const> method_table() {
    return table;
}

std::span<MethodInfo const> plain_methods() {
    return std::span(table).first(table.size() - 1);
}

Method read_method(MethodChoice const& choice) {
    std::string_view const name = choice.name == "default" ? table[0].name : std::string_view(choice.name);
    auto const* const found =
        std::find_if(table.begin(), table.end(), [&](MethodInfo const& row) { return row.name == name; });
    if (found == table.end()) {
        std::vector<std::string> known;
        for (MethodInfo const& row : table) {
            known.emplace_back(row.name);
        }
        throw UsageError(unknown_name("nccl method", choice.name, known));
    }
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
        if (knob != "exchange" || found->knobs.empty()) {
            throw UsageError(fmt::format("--method {}: unknown knob '{}'; nccl {} has {}", to_string(choice), knob,
                                         name, found->knobs.empty() ? "none" : found->knobs));
        }
        method.all_to_all = read_exchange(choice, value);
    }
    return method;
}

}  // namespace dlmb::nccl
