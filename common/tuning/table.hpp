// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// A tuning table: measured choices, what they hold for, and who made them from what. A value: compared, printed and
// stored without a library.
#pragma once

#include "common/tuning/rule.hpp"

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace dlmb::tuning {

inline constexpr char const* table_schema = "dlmb.tuning-table/1.0";

struct Tool {
    std::string name;
    std::string version;
    std::string commit;
    bool operator==(Tool const&) const = default;
};

/// A result file that rules were made from.
struct Input {
    std::string file;                   // without its folder
    std::string sha256;                 // 64 hex digits
    std::vector<std::string> launches;  // launch ids
    bool operator==(Input const&) const = default;
};

/// Where the table holds. A reader compares `key`; the other texts are for people.
struct System {
    std::string key;  // system_key() of the records
    std::string cpu;
    std::string gpu;  // of each node: "NVIDIA H100, compute capability 9.0, 85899345920 B, 8 per node"; empty: none
    bool operator==(System const&) const = default;
};

struct MpiLibrary {
    std::string name;
    std::string version;
    bool operator==(MpiLibrary const&) const = default;
};
/// "Open MPI" 4.1.4 of what MPI_Get_library_version says: "Open MPI v4.1.4, package: ...", "MPICH Version: 4.0.2".
[[nodiscard]] MpiLibrary mpi_library(std::string_view told);

struct Stack {
    std::optional<MpiLibrary> mpi;
    std::map<std::string, std::string> versions;     // by "nccl", "ucx", "ucc", "cuda"
    std::map<std::string, std::string> environment;  // variables that were set and steer a library
    bool operator==(Stack const&) const = default;
};

/// By which rules the builder decided. Shares are fractions: 0.05 is 5 %.
struct Policy {
    std::string metric = "median over iterations of the max over ranks";
    double min_gain_small = 0.05;
    double min_gain_large = 0.03;
    double fdr_q = 0.05;  // false discovery rate over all comparisons of a table
    std::uint64_t launches = 8;
    std::uint64_t confirm_launches = 8;
    double cut = 1.25;             // ratio of neighbouring measured sizes at which a cut between choices is fine enough
    std::uint64_t hysteresis = 2;  // adjacent measured sizes that a choice must hold for
    std::map<std::string, std::string> baseline;  // memory kind -> backend that runs what has no rule
    std::string cache = {};                       // --cache of all measurements; empty: not told
    bool operator==(Policy const&) const = default;
};

struct TuningTable {
    std::string created;  // UTC, ISO 8601
    Tool tool;
    std::vector<Input> inputs;  // empty in a table that a person wrote
    System system;
    Stack stack;
    Policy policy;
    /// The first match within a scope wins. Rules of a valid table do not overlap, so their order changes no answer.
    std::vector<Rule> rules;
    bool operator==(TuningTable const&) const = default;
};

/// By scope, operation, ranks, nodes, memory, bytes, then the other conditions: equal tables become equal files.
void sort_rules(TuningTable& table);

}  // namespace dlmb::tuning
