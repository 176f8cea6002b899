// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/backends/ucc/methods.hpp"

#include "common/base/error.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

namespace dlmb::ucc {
namespace {

constexpr OperationSet collectives{OperationKind::exchange,       OperationKind::all_reduce, OperationKind::reduce,
                                   OperationKind::reduce_scatter, OperationKind::all_gather, OperationKind::gather,
                                   OperationKind::scatter,        OperationKind::broadcast,  OperationKind::barrier};

constexpr std::string_view by_call = "collective";
constexpr std::string_view by_request = "persistent";

constexpr std::array<MethodInfo, 3> method_rows{{
    {by_call, "ucc_collective_init, _post and _test in every iteration, as Open MPI and PyTorch call UCC", collectives},
    {by_request, "a persistent request made at set-up, ucc_collective_post and _test in every iteration", collectives},
    {algorithm_method, "persistent requests by an algorithm of TL/UCP (as UCC_TL_UCP_TUNE chooses it)", collectives,
     "CALL=NAME (allreduce, reduce, reduce_scatter, allgather, bcast, alltoallv; ucc_info -A lists the names)"},
}};

/// Algorithms of TL/UCP that need nothing but two-sided messages on host memory: `ucc_info -A` of UCC 1.8. UCC falls
/// back to its own choice where one does not fit (neighbor with an odd number of ranks).
struct TlUcpAlgorithms {
    std::string_view call;
    OperationKind operation;
    std::vector<std::string> names;
};

std::vector<TlUcpAlgorithms> const& call_algorithms() {
    static std::vector<TlUcpAlgorithms> const known{
        {"allreduce", OperationKind::all_reduce, {"knomial", "sra_knomial", "dbt", "ring"}},
        {"reduce", OperationKind::reduce, {"knomial", "dbt", "srg"}},
        {"reduce_scatter", OperationKind::reduce_scatter, {"ring", "knomial"}},
        {"allgather",
         OperationKind::all_gather,
         {"knomial", "ring", "neighbor", "bruck", "sparbit", "linear", "batched"}},
        {"bcast", OperationKind::broadcast, {"knomial", "sag_knomial", "dbt"}},
        {"alltoallv", OperationKind::exchange, {"pairwise", "hybrid"}},
    };
    return known;
}

void check_algorithm(std::string const& call, std::string const& name) {
    std::vector<std::string> calls;
    for (TlUcpAlgorithms const& known : call_algorithms()) {
        calls.emplace_back(known.call);
        if (known.call != call) {
            continue;
        }
        if (std::find(known.names.begin(), known.names.end(), name) == known.names.end()) {
            throw UsageError(fmt::format("--method algorithm:{}={}: {}", call, name,
                                         unknown_name("algorithm of TL/UCP", name, known.names)));
        }
        return;
    }
    throw UsageError(
        fmt::format("--method algorithm:{}={}: {}", call, name, unknown_name("collective of UCC", call, calls)));
}

}  // namespace

std::span<MethodInfo const> method_table() {
    return method_rows;
}

Method read_method(MethodChoice const& choice) {
    MethodInfo const& row = chosen_method(method_rows, "ucc", choice);
    Method method{.persistent = row.name != by_call};
    if (row.name == algorithm_method && choice.knobs.empty()) {
        throw UsageError("--method algorithm: name one, for example algorithm:allreduce=ring");
    }
    for (auto const& [call, name] : choice.knobs) {
        check_algorithm(call, name);
        method.algorithms.emplace(call, name);
    }
    return method;
}

std::vector<MethodChoice> algorithm_variants(std::span<OperationUse const> uses) {
    std::vector<MethodChoice> variants;
    for (TlUcpAlgorithms const& known : call_algorithms()) {
        bool const used = std::any_of(uses.begin(), uses.end(), [&](OperationUse const& use) {
            return use.kind == known.operation && (use.uniform || use.kind == OperationKind::exchange);
        });
        for (std::size_t i = 0; used && i < known.names.size(); ++i) {
            variants.push_back({std::string(algorithm_method), {{std::string(known.call), known.names[i]}}});
        }
    }
    return variants;
}

bool makes_named_call(Plan const& plan, Method const& method) {
    auto const is_named = [&](Step const& step) {
        auto const* collective = std::get_if<Collective>(&step.operation);
        return (collective == nullptr || collective->shares.empty()) &&
               std::any_of(call_algorithms().begin(), call_algorithms().end(), [&](TlUcpAlgorithms const& known) {
                   return known.operation == kind_of(step.operation) && method.algorithms.contains(known.call);
               });
    };
    return std::any_of(plan.steps.begin(), plan.steps.end(), is_named);
}

std::string tune_text(Method const& method) {
    std::vector<std::string> tokens;
    for (auto const& [call, name] : method.algorithms) {
        tokens.push_back(fmt::format("{}:@{}", call, name));
    }
    return fmt::format("{}", fmt::join(tokens, "#"));
}

}  // namespace dlmb::ucc
