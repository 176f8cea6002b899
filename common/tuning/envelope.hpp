// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// What a tuning table says of itself: who made it from what, for which machine and software, and by which policy.
#pragma once

#include "common/base/units.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace dlmb::tuning {

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

/// What an export was spliced into, by consumer: MPICH's own selection tree.
struct Base {
    std::string sha256;
    std::string origin;  // the library it was read from
    bool operator==(Base const&) const = default;
};

struct Gpu {
    std::string name;
    std::string arch;              // "sm_90", "gfx942"
    std::uint64_t processors = 0;  // SMs or CUs: the same name is sold with different numbers
    std::uint64_t per_node = 0;
    bool operator==(Gpu const&) const = default;
};

/// Where the table holds. A reader compares `key`.
struct System {
    std::string key;  // system_key() of the records
    std::string cpu;
    std::optional<Gpu> gpu;  // absent: none was used
    std::string nic;         // empty: none
    std::string topology;    // how devices and adapters are connected; empty: not recorded
    bool operator==(System const&) const = default;
};

struct MpiLibrary {
    std::string name;
    std::string version;
    std::vector<std::string> components;  // collective components in force: "tuned", "han"
    bool operator==(MpiLibrary const&) const = default;
};

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
    std::string cache = {};                       // --cache of all measurements; empty: not told (before 1.1)
    bool operator==(Policy const&) const = default;
};

}  // namespace dlmb::tuning
