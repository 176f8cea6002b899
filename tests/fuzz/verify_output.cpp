// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Output and logs of the programs that dlmb_tune verify runs, read for every library.
#include "common/tools/tune/verify/program_output.hpp"
#include "common/tools/tune/verify/trial.hpp"
#include "tests/fuzz/fuzz.hpp"
#include "tests/fuzz/targets.hpp"

#include <sstream>

namespace dlmb::fuzz {

void verify_output(std::string_view input) {
    using namespace tuning::commands;
    std::string const text(input);
    BoundFunctions functions;
    std::istringstream bindings(text);
    add_bound_functions(bindings, "allreduce", functions);
    functions.by_calls.merge(functions.before);
    for (std::string const& function : functions.by_calls) {
        require(function.starts_with("ompi_coll_base_allreduce_"), "a function of another call");
    }
    CountedMessages const counted = counted_messages(text);
    require(counted.ranks > 0 || counted.sum == 0, "messages of no rank");
    for (auto const collective : {MpiCall::allreduce, MpiCall::alltoallv}) {
        (void)function_in_score_map(text, 4, collective, 65536);
    }
    std::istringstream log(text);
    require(!first_rendezvous(log).empty() && !nccl_choice(text, "AllReduce").empty(), "a choice without a name");
    require(nodes_in(text).value_or(1) > 0, "ranks on no node");
    require(failure({1, text}).failed, "a failed run that did not fail");
}

}  // namespace dlmb::fuzz
