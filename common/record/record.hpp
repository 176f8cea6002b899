// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// The lines of a result file as values (results-schema/result.schema.json): launch, cell, end.
#pragma once

#include "common/backend_kit/backend.hpp"
#include "common/base/draw.hpp"
#include "common/measure/buffers/cache_use.hpp"
#include "common/measure/calibration/calibration.hpp"
#include "common/measure/cell_result.hpp"
#include "common/memory/page_placement.hpp"
#include "common/plan/traffic.hpp"
#include "common/plan/world.hpp"
#include "common/record/environment.hpp"
#include "common/record/launch_id.hpp"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace dlmb::record {

inline constexpr char const* result_schema = "dlmb.result/1.4";

/// What identifies a cell, and nothing else: equal identities are the same measurement (used by --resume and as join
/// key).
struct CellIdentity {
    std::string pattern;
    std::string preset;                             // may be empty
    std::map<std::string, std::string> parameters;  // resolved, all of them
    std::string backend;
    std::string method;
    std::string memory;
    std::string mode;  // isolated, stream
    WorldShape world;
    std::uint64_t seed = 1;
    std::uint32_t draws = 1;
    measure::CacheMode cache = measure::CacheMode::rotate;
    measure::Fill fill = measure::Fill::random;
    bool operator==(CellIdentity const&) const = default;
};

/// Sorted key=value parts joined with '/', characters A-Z a-z 0-9 . _ = / + - only, at most 1000 bytes (a longer one
/// ends in a hash). Parameters (key "p.<name>") at their preset's value are left out; a byte that is none of A-Z a-z
/// 0-9 . _ - is '+' and two hex digits, so that different identities never share an id. Cache mode and fill are left
/// out where they are what cells were before they were named: warm and random.
[[nodiscard]] std::string cell_id(CellIdentity const& identity,
                                  std::map<std::string, std::string> const& preset_values);

struct PhaseTraffic {
    std::string label;
    TrafficSummary traffic;
};

/// Of the buffers on the host.
struct HostPages {
    PagePlacement where;        // sum over ranks
    Bytes huge_page_bytes = 0;  // of the process of a rank, most of any
    bool operator==(HostPages const&) const = default;
};

struct Record {
    CellIdentity identity;
    std::string cell_id;
    measure::CellResult result;
    TrafficSummary traffic;            // mean over draws
    std::vector<PhaseTraffic> phases;  // traffic per phase, mean over draws
    std::map<std::string, double>
        statistics;  // realised skew: gini_expert, max_mean_expert, gini_rank, max_mean_rank ...
    measure::CacheUse cache;
    std::optional<HostPages> host_pages;  // nothing: device memory, or it did not come to allocating
    Provenance backend_facts;
    bool is_default = false;  // the method is what this backend does when none is named
    bool host_driven = true;
    bool shared_gpu = false;  // ranks took turns on a GPU: shows that results are right, and nothing about time
};

struct Launch {
    std::string launch_id;    // random, 16 hex digits
    std::string campaign_id;  // from --campaign, else the launch_id
    std::string time;         // UTC, ISO 8601
    std::string program;
    std::vector<std::string> command;
    WorldShape world;
    Environment environment;
    std::optional<measure::Calibration> calibration = std::nullopt;  // absent with --calibration off
    std::optional<std::uint64_t> order_seed = std::nullopt;          // of the rounds; absent before result format 1.4
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

}  // namespace dlmb::record
