// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// MPICH's variables MPIR_CVAR_<CALL>_INTRA_ALGORITHM. They are plain ints, any value is taken, and a wrong one ends the
// job at the next call: only ids of versions whose list was read are offered. An id is the place in the list of
// src/mpi/coll/cvars.txt; lists differ between versions.
#include "common/backends/mpi/algorithm_catalogue.hpp"
#include "common/base/error.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cctype>

namespace dlmb::mpi {
namespace {

// It makes the same call on the ranks of a node, where it is chosen again: 4.0.2 goes on until the stack is full.
constexpr std::string_view never_ends = "smp";

/// MPICH 4.0; tried out with 4.0.2. Id 1 is the first.
std::vector<std::string> names_of_4_0(CollectiveCall call) {
    switch (call) {
    case CollectiveCall::allreduce:
        return {"nb", "smp", "recursive_doubling", "reduce_scatter_allgather"};
    case CollectiveCall::reduce_scatter_block:
        return {"noncommutative", "recursive_doubling", "pairwise", "recursive_halving", "nb"};
    case CollectiveCall::allgather:
        return {"brucks", "nb", "recursive_doubling", "ring"};
    case CollectiveCall::bcast:
        return {"binomial", "nb", "smp", "scatter_recursive_doubling_allgather", "scatter_ring_allgather"};
    case CollectiveCall::alltoall:
        return {"brucks", "nb", "pairwise", "pairwise_sendrecv_replace", "scattered"};
    case CollectiveCall::alltoallv:
        return {"nb", "pairwise_sendrecv_replace", "scattered"};
    }
    throw Error("collective call out of range");
}

std::string cvar_of(CollectiveCall call) {
    std::string name{name_of(call)};
    std::transform(name.begin(), name.end(), name.begin(),
                   [](unsigned char letter) { return static_cast<char>(std::toupper(letter)); });
    return fmt::format("MPIR_CVAR_{}_INTRA_ALGORITHM", name);
}

}  // namespace

AlgorithmCatalogue mpich_algorithms(std::string_view version) {
    AlgorithmCatalogue catalogue;
    catalogue.family = "mpich";
    catalogue.takes_effect = TakesEffect::at_the_next_call;
    catalogue.falls_back = [](CollectiveCall, std::string_view, Bytes, CallSize const&) { return std::string{}; };
    catalogue.segments = [](CollectiveCall, std::string_view) { return std::vector<Bytes>{0}; };
    // In 4.0 0 is "error", and a call that the algorithm cannot do then returns one instead of choosing another.
    catalogue.strictness = ControlVariable::find("MPIR_CVAR_COLLECTIVE_FALLBACK");
    catalogue.strict = 0;
    std::string_view const number = version.substr(std::min(version.size(), version.find_first_of("0123456789")));
    if (!version.starts_with("MPICH") || !number.starts_with("4.0")) {
        catalogue.why_not = fmt::format("the ids of the algorithms of this library ({}) are not known; those of MPICH "
                                        "4.0 are",
                                        version);
        return catalogue;
    }
    for (CollectiveCall const call : every_collective_call) {
        if (auto variable = ControlVariable::find(cvar_of(call))) {
            CallAlgorithms offered{std::move(*variable), {}, {}};
            int id = 0;
            for (std::string const& name : names_of_4_0(call)) {
                ++id;
                if (name != never_ends) {
                    offered.algorithms.push_back({name, id});
                }
            }
            catalogue.calls.emplace(call, std::move(offered));
        }
    }
    return catalogue;
}

}  // namespace dlmb::mpi
