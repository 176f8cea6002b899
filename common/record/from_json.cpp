// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/record/from_json.hpp"

#include "common/base/error.hpp"
#include "common/record/buffers_json.hpp"
#include "common/record/calibration_json.hpp"
#include "common/record/cell_statistics_json.hpp"
#include "common/record/json.hpp"
#include "common/record/timing_json.hpp"

#include <fmt/core.h>

#include <array>

namespace dlmb::record {
namespace {

using Facts = std::map<std::string, std::string>;

measure::Status status_from(Json const& value) {
    using measure::Status;
    return read_name("status", value,
                     std::array{Status::ok, Status::skipped, Status::failed, Status::timeout, Status::invalid});
}

measure::Verdict verdict_from(Json const& value) {
    using measure::Verdict;
    return read_name("verdict", value, std::array{Verdict::passed, Verdict::failed, Verdict::off},
                     [](Verdict verdict) { return verdict_name(verdict); });
}

WorldShape world_from(Json const& object) {
    return {object.at("ranks"), object.at("ranks_per_node")};
}

TrafficSummary traffic_from(Json const& object) {
    TrafficSummary traffic;
    traffic.payload_bytes = object.at("payload_bytes");
    traffic.wire_bytes = object.at("wire_bytes");
    traffic.self_bytes = object.at("self_bytes");
    traffic.busiest_rank_bytes = object.at("busiest_rank_bytes");
    traffic.largest_total_bytes = object.at("largest_total_bytes");
    traffic.balanced_rank_bytes = object.at("balanced_rank_bytes");
    traffic.imbalance_send = object.at("imbalance_send");
    traffic.imbalance_recv = object.at("imbalance_recv");
    return traffic;
}

CellIdentity identity_from(Json const& line) {
    CellIdentity identity;
    identity.pattern = line.at("pattern");
    identity.preset = line.at("preset");
    for (auto const& [name, value] : line.at("parameters").items()) {
        identity.parameters.emplace(name, parameter_text(value));
    }
    identity.backend = line.at("backend");
    identity.method = line.at("method");
    identity.memory = line.at("memory");
    identity.mode = line.at("mode");
    identity.world = world_from(line.at("world"));
    identity.seed = line.at("seed");
    identity.draws = line.at("draws");
    identity.cache = cache_from(line).mode;
    identity.fill = fill_from(line);
    return identity;
}

measure::Validation validation_from(Json const& object) {
    measure::Validation validation;
    validation.verdict = verdict_from(object.at("verdict"));
    validation.blocks_checked = object.at("blocks_checked");
    validation.draws_checked = object.at("draws_checked").get<std::vector<std::uint32_t>>();
    validation.slots_checked = object.value("slots_checked", std::vector<std::uint32_t>{});
    validation.first_mismatch = object.at("first_mismatch");
    return validation;
}

/// The fields that are null unless the cell is ok.
void read_measured(Json const& line, measure::CellResult& result) {
    if (line.at("time_ns").is_null()) {
        return;
    }
    result.time = times_from(line.at("time_ns"));
    result.samples_ns = line.at("samples_ns").get<std::vector<Nanoseconds>>();
    result.setup_ns = line.at("setup_ns");
    result.first_iteration_ns = line.at("first_iteration_ns");
    if (auto const device = line.find("device"); device != line.end() && !device->is_null()) {
        result.device = measure::DeviceTiming{times_from(device->at("time_ns")), device->at("host_overhead_ns"),
                                              device->at("gpu_gate") == "spin"};
    }
    result.straggler.rank = line.at("straggler").at("rank");
    result.straggler.share = line.at("straggler").at("share");
    read_timing(line, result);
}

measure::CellResult result_from(Json const& line) {
    measure::CellResult result;
    result.status = status_from(line.at("status"));
    result.reason = line.at("reason");
    read_measured(line, result);
    read_rounds(line.at("rounds"), result);
    result.series = series_from(line.value("series", Json(nullptr)));
    result.below_floor = optional_from<bool>(line, "below_floor");
    result.flags = line.value("flags", std::vector<std::string>{});
    result.rank_median_ns = line.at("rank_medians_ns").get<std::vector<double>>();
    result.stop_reason = line.at("stop_reason");
    if (line.contains("throttled")) {
        result.throttled = line.at("throttled").get<bool>();
    }
    if (line.contains("dropped")) {
        result.dropped = line.at("dropped").get<double>();
    }
    result.definition = line.at("definition");
    result.iterations_per_sample = line.value("iterations_per_sample", std::uint64_t{1});
    result.warmup_iterations = line.at("warmup_iterations");
    result.validation = validation_from(line.at("validation"));
    return result;
}

RankPlace place_from(Json const& object) {
    RankPlace place{object.at("rank"), object.at("host"),  object.at("cpuset"),
                    object.at("numa"), object.at("bound"), {}};
    if (object.contains("device")) {
        Json const& device = object.at("device");
        place.device = {device.at("index"), device.at("pci_bus_id"), device.at("numa_node"),
                        device.at("other_numa_node"), device.at("reason")};
    }
    return place;
}

Environment environment_from(Json const& object) {
    Environment environment;
    environment.identity = object.at("identity").get<Facts>();
    environment.informational = object.at("informational").get<Facts>();
    environment.variables = object.at("variables").get<Facts>();
    for (Json const& place : object.at("ranks")) {
        environment.ranks.push_back(place_from(place));
    }
    environment.largest_cache = object.value("largest_cache_bytes", Bytes{0});
    environment.warnings = object.at("warnings").get<std::vector<std::string>>();
    environment.env_key = object.at("env_key");
    return environment;
}

}  // namespace

Launch launch_from(Json const& line) {
    Launch launch;
    launch.launch_id = line.at("launch_id");
    launch.campaign_id = line.at("campaign_id");
    launch.time = line.at("time");
    launch.program = line.at("program");
    launch.command = line.at("command").get<std::vector<std::string>>();
    launch.world = world_from(line.at("world"));
    launch.environment = environment_from(line.at("environment"));
    launch.calibration = calibration_from(line.value("calibration", Json(nullptr)));  // none before 1.2
    if (line.contains("order_seed")) {
        launch.order_seed = optional_from<std::uint64_t>(line, "order_seed");
    }
    return launch;
}

Record record_from(Json const& line) {
    Record cell;
    cell.identity = identity_from(line);
    cell.cell_id = line.at("cell_id");
    cell.result = result_from(line);
    cell.traffic = traffic_from(line.at("traffic"));
    for (auto const& [label, phase] : line.at("phases").items()) {
        cell.phases.push_back({label, traffic_from(phase.at("traffic"))});
        if (phase.contains("median")) {
            cell.result.phases.push_back({label, times_from(phase)});
        }
    }
    cell.statistics = line.at("statistics").get<std::map<std::string, double>>();
    for (auto const& [name, value] : line.at("backend_facts").items()) {
        cell.backend_facts.emplace(name, value.get<std::string>());
    }
    cell.is_default = line.value("is_default", false);  // before 1.2 nobody said
    cell.cache = cache_from(line);
    cell.host_pages = pages_from(line);
    cell.host_driven = line.at("host_driven");
    cell.shared_gpu = line.value("shared_gpu", false);  // 1.0 has none
    return cell;
}

End end_from(Json const& line) {
    End end{line.at("launch_id"), line.at("status"), line.at("cells").get<std::map<std::string, std::uint64_t>>()};
    if (auto const compared = line.find("self_comparison"); compared != line.end() && !compared->is_null()) {
        end.self_comparison = {compared->at("cells"), compared->at("median"), compared->at("largest"),
                               compared->at("largest_cell")};
    }
    return end;
}

}  // namespace dlmb::record
