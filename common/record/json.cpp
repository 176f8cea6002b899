// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/record/json.hpp"

#include "common/record/buffers_json.hpp"
#include "common/record/calibration_json.hpp"
#include "common/record/cell_statistics_json.hpp"
#include "common/record/json_parts.hpp"
#include "common/record/timing_json.hpp"

#include <algorithm>

namespace dlmb::record {
namespace {

/// Host time that the device did not spend, as a share of the host's median, from which on the host is what was
/// measured.
constexpr double host_bound_share = 0.2;

Json traffic_json(TrafficSummary const& traffic) {
    return {{"payload_bytes", traffic.payload_bytes},
            {"wire_bytes", traffic.wire_bytes},
            {"self_bytes", traffic.self_bytes},
            {"busiest_rank_bytes", traffic.busiest_rank_bytes},
            {"largest_total_bytes", traffic.largest_total_bytes},
            {"balanced_rank_bytes", finite(traffic.balanced_rank_bytes, "balanced_rank_bytes")},
            {"imbalance_send", finite(traffic.imbalance_send, "imbalance_send")},
            {"imbalance_recv", finite(traffic.imbalance_recv, "imbalance_recv")}};
}

/// Null without a time; a single figure is null where nothing moved, as in a world of one rank.
Json bandwidth_json(TrafficSummary const& traffic, double time_ns) {
    if (!(time_ns > 0)) {
        return nullptr;
    }
    Bandwidth const rates = bandwidth(traffic, time_ns);
    auto const rate = [](Bytes bytes, double value, char const* field) {
        return bytes > 0 ? finite(value, field) : Json(nullptr);
    };
    return {{"algbw_GBps", rate(traffic.largest_total_bytes, rates.algbw_GBps, "algbw_GBps")},
            {"busbw_GBps", rate(traffic.busiest_rank_bytes, rates.busbw_GBps, "busbw_GBps")},
            {"aggregate_GBps", rate(traffic.wire_bytes, rates.aggregate_GBps, "aggregate_GBps")}};
}

Json phase_json(TrafficSummary const& traffic, measure::TimeSummary const* time) {
    Json object = time == nullptr ? Json::object() : times_json(*time);
    object["traffic"] = traffic_json(traffic);
    object["bandwidth"] = bandwidth_json(traffic, time == nullptr ? 0 : time->median);
    return object;
}

/// Every phase that the traffic knows, with times where it was measured.
Json phases_json(Record const& cell) {
    Json object = Json::object();
    for (PhaseTraffic const& phase : cell.phases) {
        auto const& timed = cell.result.phases;
        auto const found =
            std::find_if(timed.begin(), timed.end(), [&](auto const& each) { return each.label == phase.label; });
        bool const known = cell.result.status == measure::Status::ok && found != timed.end();
        object[phase.label] = phase_json(phase.traffic, known ? &found->time : nullptr);
    }
    return object;
}

Json validation_json(measure::Validation const& validation) {
    return {{"verdict", verdict_name(validation.verdict)},
            {"blocks_checked", validation.blocks_checked},
            {"draws_checked", validation.draws_checked},
            {"slots_checked", validation.slots_checked},
            {"first_mismatch", validation.first_mismatch}};
}

Json identity_json(CellIdentity const& identity) {
    return {{"pattern", identity.pattern},
            {"preset", identity.preset},
            {"parameters", parameters_json(identity.parameters)},
            {"backend", identity.backend},
            {"method", identity.method},
            {"memory", identity.memory},
            {"mode", identity.mode},
            {"world", world_json(identity.world)},
            {"seed", identity.seed},
            {"draws", identity.draws},
            {"fill", measure::name_of(identity.fill)}};
}

Json times_over_samples(measure::TimeSummary const& summary) {
    Json time = times_json(summary);
    time["axis"] = time_axis;
    return time;
}

/// What only a finished measurement has; null and empty otherwise, so that no reader takes a zero for a time.
Json measured_json(Record const& cell) {
    measure::CellResult const& result = cell.result;
    if (result.status != measure::Status::ok) {
        return {{"time_ns", nullptr},  {"samples_ns", Json::array()},   {"bandwidth", nullptr},
                {"setup_ns", nullptr}, {"first_iteration_ns", nullptr}, {"straggler", nullptr}};
    }
    return {
        {"time_ns", times_over_samples(result.time)},
        {"samples_ns", result.samples_ns},
        {"bandwidth", bandwidth_json(cell.traffic, result.time.median)},
        {"setup_ns", result.setup_ns},
        {"first_iteration_ns", result.first_iteration_ns},
        {"straggler", {{"rank", result.straggler.rank}, {"share", finite(result.straggler.share, "straggler.share")}}}};
}

Json place_json(RankPlace const& place) {
    Json object{{"rank", place.rank},
                {"host", place.host},
                {"cpuset", place.cpuset},
                {"numa", place.numa},
                {"bound", place.bound}};
    if (place.device) {
        object["device"] = {{"index", place.device->index},
                            {"pci_bus_id", place.device->pci_bus_id},
                            {"numa_node", place.device->numa_node},
                            {"other_numa_node", place.device->other_numa_node},
                            {"reason", place.device->reason}};
    }
    return object;
}

Json device_json(std::optional<measure::DeviceTiming> const& device, double host_median_ns) {
    if (!device) {
        return nullptr;
    }
    return {{"time_ns", times_over_samples(device->time)},
            {"host_overhead_ns", finite(device->host_overhead_ns, "device.host_overhead_ns")},
            {"host_bound", device->host_overhead_ns > host_bound_share * host_median_ns},
            {"gpu_gate", device->gated ? "spin" : "none"}};
}

Json environment_json(Environment const& environment) {
    Json ranks = Json::array();
    for (RankPlace const& place : environment.ranks) {
        ranks.push_back(place_json(place));
    }
    return {{"env_key", environment.env_key},
            {"identity", environment.identity},
            {"informational", environment.informational},
            {"variables", environment.variables},
            {"ranks", std::move(ranks)},
            {"largest_cache_bytes", environment.largest_cache},
            {"warnings", environment.warnings}};
}

Json self_comparison_json(std::optional<SelfComparison> const& compared) {
    if (!compared) {
        return nullptr;
    }
    return {{"cells", compared->cells},
            {"median", finite(compared->median, "self_comparison.median")},
            {"largest", finite(compared->largest, "self_comparison.largest")},
            {"largest_cell", compared->largest_cell}};
}

}  // namespace

std::string_view verdict_name(measure::Verdict verdict) {
    switch (verdict) {
    case measure::Verdict::passed:
        return "passed";
    case measure::Verdict::failed:
        return "failed";
    case measure::Verdict::off:
        break;
    }
    return "off";
}

std::string to_json_line(Launch const& launch) {
    return compact({{"kind", "launch"},
                    {"schema", result_schema},
                    {"launch_id", launch.launch_id},
                    {"campaign_id", launch.campaign_id},
                    {"time", launch.time},
                    {"program", launch.program},
                    {"command", launch.command},
                    {"world", world_json(launch.world)},
                    {"test_double", on_test_double(launch.environment)},
                    {"environment", environment_json(launch.environment)},
                    {"calibration", calibration_json(launch.calibration)},
                    {"order_seed", or_null(launch.order_seed)}});
}

std::string to_json_line(std::string_view launch_id, Record const& cell) {
    measure::CellResult const& result = cell.result;
    Json object{{"kind", "cell"}, {"launch_id", launch_id}, {"cell_id", cell.cell_id}};
    object.update(identity_json(cell.identity));
    object["status"] = measure::name_of(result.status);
    object["reason"] = result.reason;
    object["traffic"] = traffic_json(cell.traffic);
    object.update(measured_json(cell));
    write_timing(result, object);
    object["device"] = device_json(result.device, result.time.median);
    object["phases"] = phases_json(cell);
    object["rounds"] = rounds_json(result);
    object["series"] = series_json(result.series);
    object["below_floor"] = or_null(result.below_floor);
    object["flags"] = result.flags;
    object["rank_medians_ns"] = finite_list(result.rank_median_ns, "rank_medians_ns");
    object["warmup_iterations"] = result.warmup_iterations;
    object["stop_reason"] = result.stop_reason;
    if (result.throttled) {
        object["throttled"] = *result.throttled;
    }
    if (result.dropped) {
        object["dropped"] = finite(*result.dropped, "dropped");
    }
    object["definition"] = result.definition;
    object["iterations_per_sample"] = result.iterations_per_sample;
    object["validation"] = validation_json(result.validation);
    object["statistics"] = statistics_json(cell.statistics);
    object["backend_facts"] =
        Json(std::map<std::string, std::string>(cell.backend_facts.begin(), cell.backend_facts.end()));
    object["is_default"] = cell.is_default;
    object["cache"] = cache_json(cell.cache);
    object["host_pages"] = pages_json(cell.host_pages);
    object["host_driven"] = cell.host_driven;
    object["shared_gpu"] = cell.shared_gpu;
    return compact(object);
}

std::string to_json_line(End const& end) {
    return compact({{"kind", "end"},
                    {"launch_id", end.launch_id},
                    {"status", end.status},
                    {"cells", end.cells},
                    {"self_comparison", self_comparison_json(end.self_comparison)}});
}

}  // namespace dlmb::record
