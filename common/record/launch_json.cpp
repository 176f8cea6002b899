// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// The first and the last line of a launch: its environment, its calibration, and how its cells ended.
#include "common/record/json.hpp"

namespace dlmb::record {

template <>
inline constexpr std::array every_value<measure::Effort>{measure::Effort::brief, measure::Effort::full};

void fields(auto& io, Of<RankPlace> auto& place) {
    io("rank", place.rank);
    io("host", place.host);
    io("cpuset", place.cpuset);
    io("numa", place.numa);
    io("bound", place.bound);
    io.if_known("device", place.device);
}

void fields(auto& io, Of<Environment> auto& environment) {
    io("env_key", environment.env_key);
    io("identity", environment.identity);
    io("informational", environment.informational);
    io("variables", environment.variables);
    io("ranks", environment.ranks);
    io("largest_cache_bytes", environment.largest_cache);
    io("warnings", environment.warnings);
}

void fields(auto& io, Of<measure::TimerFloor> auto& timer) {
    io("cost_ns", timer.cost_ns);
    io("step_ns", timer.step_ns);
    io("empty_region_ns", timer.empty_region_ns);
}

void fields(auto& io, Of<measure::WorkQuanta> auto& quanta) {
    io("median_ns", quanta.median_ns);
    io("p99_over_min", quanta.p99_over_min);
    io("largest_detour_ns", quanta.largest_detour_ns);
}

void fields(auto& io, Of<measure::BarrierFloor::ExitSkew> auto& skew) {
    io("p50", skew.p50_ns);
    io("p99", skew.p99_ns);
}

void fields(auto& io, Of<measure::BarrierFloor> auto& barrier) {
    io("count", barrier.count);
    io("median_ns", barrier.median_ns);
    io("exit_skew_ns", barrier.exit_skew);
}

/// `time`: what the time of one link is called.
void link_fields(auto& io, Of<measure::LinkFloor::Times> auto& times, char const* time) {
    io("median_ns", times.median_ns);
    io.objects("slow", times.slow, [&](auto& each, auto& link) {
        each("ranks", link.ranks);
        each(time, link.ns);
    });
}

void fields(auto& io, Of<measure::LinkFloor> auto& links) {
    io("count", links.count);
    link_fields(io, links.round_trips, "round_trip_ns");
    io.object("transfers", [&](auto& inner) { link_fields(inner, links.transfers, "transfer_ns"); });
}

void fields(auto& io, Of<measure::ExchangeFloor> auto& exchange) {
    io("backend", exchange.backend);
    io("memory", exchange.memory);
    io("median_ns", exchange.median_ns);
}

void fields(auto& io, Of<measure::DeviceFloor> auto& device) {
    io("event_pair_ns", device.event_pair_ns);
    io("queue_and_wait_ns", device.queue_and_wait_ns);
    io("gate_release_ns", device.gate_release_ns);
}

void fields(auto& io, Of<measure::Calibration> auto& calibration) {
    io("effort", calibration.effort);
    io("timer", calibration.timer);
    io("work_quanta", calibration.quanta);
    io("barrier", calibration.barrier);
    io("links", calibration.links);
    io("exchange_8_bytes", calibration.exchanges);
    io("device", calibration.device);
}

void fields(auto& io, Of<Launch> auto& launch) {
    io.derived("kind", [] { return "launch"; });
    io.derived("schema", [] { return result_schema; });
    io("launch_id", launch.launch_id);
    io("campaign_id", launch.campaign_id);
    io("time", launch.time);
    io("program", launch.program);
    io("command", launch.command);
    io("world", launch.world);
    io.derived("test_double", [&] { return on_test_double(launch.environment); });
    io("environment", launch.environment);
    io("calibration", launch.calibration);
    io("order_seed", launch.order_seed);
}

void fields(auto& io, Of<SelfComparison> auto& comparison) {
    io("cells", comparison.cells);
    io("median", comparison.median);
    io("largest", comparison.largest);
    io("largest_cell", comparison.largest_cell);
}

void fields(auto& io, Of<End> auto& end) {
    io.derived("kind", [] { return "end"; });
    io("launch_id", end.launch_id);
    io("status", end.status);
    io("cells", end.cells);
    io("self_comparison", end.self_comparison);
}

std::string to_json_line(Launch const& launch) {
    return compact(write_value(launch, "launch"));
}

std::string to_json_line(End const& end) {
    return compact(write_value(end, "end"));
}

Launch launch_from(Json const& line) {
    Launch launch;
    read_value(line, launch, "launch");
    return launch;
}

End end_from(Json const& line) {
    End end;
    read_value(line, end, "end");
    return end;
}

Json calibration_json(std::optional<measure::Calibration> const& calibration) {
    return write_value(calibration, "calibration");
}

std::optional<measure::Calibration> calibration_from(Json const& value) {
    std::optional<measure::Calibration> calibration;
    read_value(value, calibration, "calibration");
    return calibration;
}

}  // namespace dlmb::record
