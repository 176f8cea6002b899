// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Readers of the output and the logs of programs that verify runs: which algorithm a library says that it took.
// Nothing but the text decides what comes out. Lines are read up to their first 4096 characters.
#pragma once

#include "common/tools/tune/exporters/select_rules.hpp"

#include <cstdint>
#include <istream>
#include <optional>
#include <set>
#include <string>

namespace dlmb::tuning::commands {

/// Open MPI: functions "ompi_coll_base_CALL_intra_NAME" (or without "intra_") that the loader (LD_DEBUG=bindings) bound
/// in a library of MPI's. It binds each once. dlmb_plain_mpi begins its calls with MPI_Pcontrol.
struct BoundFunctions {
    std::set<std::string> by_calls;
    std::set<std::string> before;  // coll/han calls some when it makes its communicators
};
void add_bound_functions(std::istream& log, std::string_view call, BoundFunctions& functions);

/// MPICH: the messages that libdlmb_count_sends counted, and on how many ranks.
struct CountedMessages {
    std::uint64_t ranks = 0;
    std::uint64_t sum = 0;
};
[[nodiscard]] CountedMessages counted_messages(std::string const& output);

/// dlmb_collective: on how many nodes its ranks were; nothing where it does not say it.
[[nodiscard]] std::optional<std::uint64_t> nodes_in(std::string const& output);

/// UCC: "TL_UCP ucc_tl_ucp_allreduce_ring_init" from the score map of a team of `ranks`, for a size as UCC compares
/// them. Empty: the map has no range that holds the size.
[[nodiscard]] std::string function_in_score_map(std::string const& log, std::uint64_t ranks, MpiCall collective,
                                                Bytes bytes);

/// UCX: the first size of rendezvous in the table of a tagged message, "256K"; "none": the table has none.
[[nodiscard]] std::string first_rendezvous(std::istream& log);

/// NCCL: "ring ll128" of the first such call; "nothing": the log has none. `function`: "AllReduce".
[[nodiscard]] std::string nccl_choice(std::string const& log, std::string_view function);

}  // namespace dlmb::tuning::commands
