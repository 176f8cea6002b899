// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// One rule of a tuning table as plain data: when (operation, size, ranks, memory ...) -> choose (backend, method,
// algorithm), with the evidence for it. results-schema/tuning-table.schema.json is the same in JSON.
#pragma once

#include "common/tuning/interval.hpp"
#include "common/tuning/vocabulary.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace dlmb::tuning {

/// Conditions, all of which must hold. An absent or empty one holds always; a present one never holds for a query that
/// does not know the value.
struct When {
    TunedOperation operation = TunedOperation::allreduce;
    std::optional<ByteInterval> bytes;  // in basis_of(operation)
    std::optional<CountInterval> ranks;
    std::optional<CountInterval> nodes;
    std::optional<CountInterval> ranks_per_node;  // "ppn"
    std::optional<Distribution> distribution;
    std::string dtype;      // element_words
    std::string reduction;  // reduction_words
    std::string memory;     // memory_words
    std::optional<bool> commutative;
    std::optional<bool> registered;
    std::optional<bool> in_place;
    std::optional<bool> uniform;                  // exchange: all blocks equal
    std::optional<RatioInterval> imbalance;       // exchange: largest total that a rank sends or receives / mean
    std::optional<CountInterval> group_ops;       // operations that are issued as one group
    std::optional<CountInterval> group_pipe_ops;  // of them, those that NCCL pipelines (its numPipeOps)
    std::optional<Link> link;                     // sendrecv
    std::optional<bool> overlap;                  // concurrent with Compute
    bool operator==(When const&) const = default;
};

/// An algorithm inside a library, where the method is that library's call. Versions: of the library, for which name and
/// id are known to be these; empty: no limit.
struct Algorithm {
    std::string family;  // "open_mpi.tuned", "mpich", "nccl", "ucc.tl_ucp"
    std::string name;    // "ring"
    std::optional<std::int64_t> id;
    std::string min_version;
    std::string max_version;  // inclusive
    bool operator==(Algorithm const&) const = default;
};

/// Settings of the choice. Absent: the library's own value.
struct ChoiceParams {
    std::string protocol;  // "ll", "ll128", "simple"
    std::optional<std::uint64_t> channels;
    std::optional<Bytes> chunk_bytes;
    std::optional<Bytes> segment_bytes;
    std::optional<std::uint64_t> fanout;
    std::optional<std::uint64_t> max_requests;
    std::optional<std::uint64_t> radix;
    std::optional<std::uint64_t> max_outstanding;
    std::map<std::string, std::string> knobs;  // variables of the library: "UCX_RNDV_THRESH" -> "65536"
    std::optional<std::uint64_t> score;        // UCC
    bool operator==(ChoiceParams const&) const = default;
};

inline constexpr char const* default_method = "default";

struct Choice {
    std::string backend;
    std::string method = default_method;  // as --method takes it: "pairwise:max_outstanding=4"
    std::optional<Algorithm> algorithm;
    ChoiceParams params;
    bool operator==(Choice const&) const = default;
};

/// What was measured. Times are medians over launches of launch medians, nanoseconds.
struct Evidence {
    std::vector<Bytes> sizes;  // measured ones, ascending, in basis_of(operation)
    std::uint64_t samples = 0;
    std::uint64_t launches = 0;
    std::uint64_t confirmed = 0;  // fresh launches of the confirmation
    double choice_ns = 0;
    std::optional<double> runner_up_ns;
    double default_ns = 0;
    double gain = 0;      // share of the default's time that the choice saves: 0.23 is 23 %
    double gain_low = 0;  // 95 % interval
    double gain_high = 0;
    bool operator==(Evidence const&) const = default;
};

/// The scope whose rules choose a backend. Every other scope is the name of a backend and chooses a method inside it.
inline constexpr char const* select_scope = "select";

struct Rule {
    std::string id;  // unique in the table, "r003"
    std::string scope;
    std::string pattern;  // whose traffic was measured, for the reader only; no condition. May be empty
    When when;
    Choice choose;
    RuleStatus status = RuleStatus::chosen;
    std::optional<Evidence> evidence;  // absent in a rule that a person wrote
    bool operator==(Rule const&) const = default;
};

}  // namespace dlmb::tuning
