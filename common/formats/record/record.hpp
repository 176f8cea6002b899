// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// The lines of a result file as values (results-schema/result.schema.json): launch, cell, derived, end; and the
// identifiers that join them: of a cell (equal in every launch), and of a launch (random).
#pragma once

#include "common/formats/plan/traffic.hpp"
#include "common/formats/record/calibration.hpp"
#include "common/formats/record/cell_identity.hpp"
#include "common/formats/record/cell_result.hpp"
#include "common/formats/record/environment.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace dlmb::record {

/// The flag of a cell whose traffic was planned for other nodes than those that the ranks were on (--ranks-per-node).
inline constexpr std::string_view assumed_nodes_flag = "assumed_nodes";

inline constexpr char const* result_schema = "dlmb.result/1.1";

/// In place of the steps of one phase, with the statistics of a phase: of each turn the slowest rank, then the median.
struct PlainCopy {
    Processor by = Processor::host;  // which does the steps
    Bytes bytes = 0;                 // copied_bytes() of the steps: mean over draws of the largest over ranks
    double time_ns = 0;              // of copying as many
};

struct PhaseTraffic {
    std::string label;
    TrafficSummary traffic;
    std::optional<PlainCopy> plain_copy = std::nullopt;  // nothing: the phase packs nothing
};

/// The pages of the buffers on the host.
struct HostPages {
    std::uint64_t sampled = 0;    // pages that the kernel told the node of, sum over ranks
    std::uint64_t elsewhere = 0;  // of these on other nodes than the wanted ones
    Bytes huge_page_bytes = 0;    // of the process of a rank, most of any
    bool operator==(HostPages const&) const = default;
};

/// The source of lines that dlmb_convert made of the output of another program, which says little: the rest of such a
/// line is unknown.
struct Origin {
    std::string suite;      // osu, nccl, ucc_perftest, pico, comms_logger
    std::string statistic;  // of a cell: what its `time.median` holds: median, mean; empty: it has no time
    bool operator==(Origin const&) const = default;
};

/// Facts that a backend tells of how a cell ran, by name.
using BackendFacts = std::map<std::string, std::string, std::less<>>;

struct Record {
    CellIdentity identity;
    std::string cell_id;
    CellResult result;
    TrafficSummary traffic;                    // mean over draws
    std::string traffic_hash;                  // of the plans of all ranks, where a file says them; else empty
    std::vector<PhaseTraffic> phases;          // traffic per phase, mean over draws
    std::map<std::string, double> statistics;  // of the drawn routing: gini_expert, max_mean_rank ...
    CacheUse cache;
    std::optional<HostPages> host_pages;  // nothing: device memory, or nothing was allocated
    BackendFacts backend_facts;
    bool is_default = false;  // the method is what this backend does when none is named
    bool host_driven = true;
    bool shared_gpu = false;                      // ranks took turns on a GPU: its times mean nothing
    std::optional<Origin> origin = std::nullopt;  // nothing: DLMB measured the cell
};

/// Figures of a finished cell that follow from other cells, and were not known when its own line was written.
struct Derived {
    std::string launch_id;  // that found them; the cell may be of an earlier launch of the file
    std::string cell_id;    // of the last ok cell of that id above
    std::map<std::string, double> statistics;
};

struct Launch {
    std::string launch_id;    // random, 16 hex digits
    std::string campaign_id;  // from --campaign, else the launch_id
    std::string time;         // UTC, ISO 8601
    std::string program;
    std::vector<std::string> command;
    WorldShape world;
    Environment environment;
    std::optional<Calibration> calibration = std::nullopt;   // absent with --calibration off
    std::optional<std::uint64_t> order_seed = std::nullopt;  // of the rounds
    std::optional<Origin> origin = std::nullopt;             // nothing: it was a launch of DLMB
};

/// How much the cells of a launch differ from themselves: |aa_ratio - 1| over those that have one.
struct SelfComparison {
    std::uint64_t cells = 0;
    double median = 0;
    double largest = 0;
    std::string largest_cell;  // its id
};

struct End {
    std::string launch_id;
    std::string status;                                            // ok, failed
    std::map<std::string, std::uint64_t> cells;                    // by status
    std::optional<SelfComparison> self_comparison = std::nullopt;  // absent where no cell had two rounds
};

/// Sorted key=value parts joined with '/', characters A-Z a-z 0-9 . _ = / + - only, at most 1000 bytes (a longer one
/// ends in a hash). Parameters (key "p.<name>") at their preset's value are left out; a byte that is none of A-Z a-z
/// 0-9 . _ - is '+' and two hex digits, so that different identities never share an id.
[[nodiscard]] std::string cell_id(CellIdentity const& identity,
                                  std::map<std::string, std::string> const& preset_values);

/// "mpi alltoallv host", with a load "mpi alltoallv host beside memory".
[[nodiscard]] std::string way_text(CellIdentity const& identity);

/// 16 random hex digits.
[[nodiscard]] std::string new_launch_id();

/// "2026-01-31T12:00:00Z".
[[nodiscard]] std::string utc_now();

}  // namespace dlmb::record
