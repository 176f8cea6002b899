// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// The lines of a result file as values (results-schema/result.schema.json): launch, cell, end.
#pragma once

#include "common/backend_kit/backend.hpp"
#include "common/measure/calibration/calibration.hpp"
#include "common/measure/cell_result.hpp"
#include "common/memory/host_space.hpp"
#include "common/plan/traffic.hpp"
#include "common/record/environment.hpp"
#include "common/record/identifiers.hpp"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace dlmb::record {

inline constexpr char const* result_schema = "dlmb.result/1.0";

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
    TrafficSummary traffic;                    // mean over draws
    std::vector<PhaseTraffic> phases;          // traffic per phase, mean over draws
    std::map<std::string, double> statistics;  // of the drawn routing: gini_expert, max_mean_rank ...
    measure::CacheUse cache;
    std::optional<HostPages> host_pages;  // nothing: device memory, or nothing was allocated
    Provenance backend_facts;
    bool is_default = false;  // the method is what this backend does when none is named
    bool host_driven = true;
    bool shared_gpu = false;  // ranks took turns on a GPU: its times mean nothing
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
    std::optional<std::uint64_t> order_seed = std::nullopt;          // of the rounds
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
