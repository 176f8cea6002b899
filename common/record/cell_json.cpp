// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// The line of a cell. What only a finished measurement has is null in the line of another, so that no reader takes a
// zero for a time.
#include "common/record/json.hpp"

#include <algorithm>

namespace dlmb::record {

using measure::Status;
using measure::Verdict;
using SuspectKind = measure::Suspect::Kind;

template <>
inline constexpr std::array every_value<Status>{Status::ok, Status::skipped, Status::failed, Status::timeout,
                                                Status::invalid};
template <>
inline constexpr std::array every_value<Verdict>{Verdict::passed, Verdict::failed, Verdict::off};
template <>
inline constexpr std::array every_value<SuspectKind>{SuspectKind::delayed, SuspectKind::jittery};
template <>
inline constexpr auto every_value<measure::CacheMode> = measure::every_cache_mode;
template <>
inline constexpr auto every_value<measure::Fill> = measure::every_fill;

namespace {

/// Host time that the device did not spend, as a share of the host's median, from which on the host is what was
/// measured.
constexpr double host_bound_share = 0.2;

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

}  // namespace

void fields(auto& io, Of<TrafficSummary> auto& traffic) {
    io("payload_bytes", traffic.payload_bytes);
    io("wire_bytes", traffic.wire_bytes);
    io("self_bytes", traffic.self_bytes);
    io("busiest_rank_bytes", traffic.busiest_rank_bytes);
    io("largest_total_bytes", traffic.largest_total_bytes);
    io("balanced_rank_bytes", traffic.balanced_rank_bytes);
    io("imbalance_send", traffic.imbalance_send);
    io("imbalance_recv", traffic.imbalance_recv);
}

void fields(auto& io, Of<measure::TimeSummary> auto& time) {
    io("median", time.median);
    io("median_low", time.median_low);
    io("median_high", time.median_high);
    io("min", time.min);
    io("q1", time.q1);
    io("q3", time.q3);
    io("p90", time.p90);
    io("p95", time.p95);
    io("p99", time.p99);
    io("max", time.max);
    io("mean", time.mean);
    io("mad", time.mad);
    io.derived("iqr", [&] { return finite(time.q3 - time.q1, "iqr"); });
    io("outliers", time.outliers);
    io("samples", time.samples);
}

/// With what percentiles are taken over.
void time_fields(auto& io, Of<measure::TimeSummary> auto& time) {
    fields(io, time);
    io.derived("axis", [] { return "max over ranks per iteration"; });
}

void fields(auto& io, Of<measure::Straggler> auto& straggler) {
    io("rank", straggler.rank);
    io("share", straggler.share);
}

void fields(auto& io, Of<measure::Sync> auto& sync) {
    io("method", sync.method);
    io("margin_ns", sync.margin_ns);
    io("late", sync.late);
    io("clock_err_ns", sync.clock_error_ns);
    io("drift_ppm", sync.drift_ppm);
}

void fields(auto& io, Of<measure::CriticalPhase> auto& phase) {
    io("label", phase.label);
    io("share", phase.share);
}

void fields(auto& io, Of<measure::RankTimes> auto& ranks) {
    io("enter", ranks.enter_ns);
    io("posted", ranks.posted_ns);
    io("spread", ranks.spread_ns);
}

void fields(auto& io, Of<measure::Suspect> auto& suspect) {
    io("rank", suspect.rank);
    io("kind", suspect.kind);
    io("ns", suspect.ns);
    io("others_ns", suspect.others_ns);
}

void fields(auto& io, Of<measure::DeviceTiming> auto& device) {
    io.object("time_ns", [&](auto& inner) { time_fields(inner, device.time); });
    io("host_overhead_ns", device.host_overhead_ns);
    io.derived("host_bound", [&] {
        double const host_median_ns = device.time.median + device.host_overhead_ns;
        return device.host_overhead_ns > host_bound_share * host_median_ns;
    });
    std::string gate = device.gated ? "spin" : "none";
    io("gpu_gate", gate);
    if constexpr (!std::is_const_v<std::remove_reference_t<decltype(device)>>) {
        device.gated = gate == "spin";
    }
}

void fields(auto& io, Of<measure::SampleSeries> auto& series) {
    io("lag1", series.lag1);
    io("ess", series.effective_samples);
    io("drift", series.drift);
    io("step_at", series.step_at);
}

void fields(auto& io, Of<measure::Validation> auto& validation) {
    io("verdict", validation.verdict);
    io("blocks_checked", validation.blocks_checked);
    io("draws_checked", validation.draws_checked);
    io("slots_checked", validation.slots_checked);
    io("first_mismatch", validation.first_mismatch);
}

void fields(auto& io, Of<measure::CacheUse> auto& cache) {
    io("mode", cache.mode);
    io("slots", cache.slots);
    io("pool_bytes", cache.pool_bytes);
    io("cache_bytes", cache.cache_bytes);
    io("flush_bytes", cache.flush_bytes);
    io("covers_llc", cache.covers_llc);
}

void fields(auto& io, Of<HostPages> auto& pages) {
    io("pages_sampled", pages.where.sampled);
    io("pages_elsewhere", pages.where.elsewhere);
    io("huge_page_bytes", pages.huge_page_bytes);
}

/// The cache mode is a field of `cache`.
void fields(auto& io, Of<CellIdentity> auto& identity) {
    io("pattern", identity.pattern);
    io("preset", identity.preset);
    io.parameters("parameters", identity.parameters);
    io("backend", identity.backend);
    io("method", identity.method);
    io("memory", identity.memory);
    io("mode", identity.mode);
    io("world", identity.world);
    io("seed", identity.seed);
    io("draws", identity.draws);
    io("fill", identity.fill);
}

/// Every phase that the traffic knows, with times where it was measured.
void phase_fields(FieldWriter& io, Record const& cell) {
    io.object("phases", [&](FieldWriter& phases) {
        for (PhaseTraffic const& phase : cell.phases) {
            auto const& timed = cell.result.phases;
            auto const found =
                std::find_if(timed.begin(), timed.end(), [&](auto const& each) { return each.label == phase.label; });
            bool const known = cell.result.status == Status::ok && found != timed.end();
            phases.object(phase.label.c_str(), [&](FieldWriter& phase_io) {
                if (known) {
                    fields(phase_io, found->time);
                }
                phase_io("traffic", phase.traffic);
                phase_io.derived("bandwidth",
                                 [&] { return bandwidth_json(phase.traffic, known ? found->time.median : 0); });
            });
        }
    });
}

void phase_fields(FieldReader& io, Record& cell) {
    for (auto const& [label, phase] : io.json().at("phases").items()) {
        cell.phases.push_back({label, {}});
        read_value(phase.at("traffic"), cell.phases.back().traffic, "traffic");
        if (phase.contains("median")) {
            cell.result.phases.push_back({label, {}});
            read_value(phase, cell.result.phases.back().time, "phases");
        }
    }
}

/// From time_ns to device: what only an ok cell has.
void measured_fields(auto& io, Of<Record> auto& cell) {
    auto& result = cell.result;
    bool const ok = result.status == Status::ok;
    io.object_where(ok, "time_ns", [&](auto& inner) { time_fields(inner, result.time); });
    io.where(ok, "samples_ns", result.samples_ns, Json::array());
    io.derived("bandwidth", [&] { return bandwidth_json(cell.traffic, ok ? result.time.median : 0); });
    io.where(ok, "setup_ns", result.setup_ns);
    io.where(ok, "first_iteration_ns", result.first_iteration_ns);
    io.where(ok, "straggler", result.straggler);
    io.where(ok, "sync", result.sync);
    io.object_where(ok, "skew_ns", [&](auto& inner) {
        inner("p50", result.arrival.skew_median_ns);
        inner("p99", result.arrival.skew_p99_ns);
    });
    io.where(ok, "last_arrival_ns", result.arrival.last_arrival_ns);
    io.where(ok, "imbalance_time", result.arrival.imbalance_time);
    io.where(ok, "critical_phase", result.critical_phase);
    io.where(ok, "rank_times_ns", result.ranks);
    io.where(ok, "suspects", result.suspects);
    io.where(ok, "device", result.device);
}

void fields(auto& io, Of<Record> auto& cell) {
    auto& result = cell.result;
    io("cell_id", cell.cell_id);
    fields(io, cell.identity);
    io("status", result.status);
    io("reason", result.reason);
    io("traffic", cell.traffic);
    measured_fields(io, cell);
    phase_fields(io, cell);
    io.object("rounds", [&](auto& rounds) {
        rounds("medians_ns", result.round_medians_ns);
        rounds.where(!result.round_medians_ns.empty(), "median_of_rounds_ns", result.median_of_rounds_ns);
        rounds("aa_ratio", result.aa_ratio);
    });
    io("series", result.series);
    io("below_floor", result.below_floor);
    io("flags", result.flags);
    io("rank_medians_ns", result.rank_median_ns);
    io("warmup_iterations", result.warmup_iterations);
    io("stop_reason", result.stop_reason);
    io.if_known("throttled", result.throttled);
    io.if_known("dropped", result.dropped);
    io("definition", result.definition);
    io("iterations_per_sample", result.iterations_per_sample);
    io("validation", result.validation);
    io.statistics("statistics", cell.statistics);
    io("backend_facts", cell.backend_facts);
    io("is_default", cell.is_default);
    io("cache", cell.cache);
    io("host_pages", cell.host_pages);
    io("host_driven", cell.host_driven);
    io("shared_gpu", cell.shared_gpu);
}

std::string to_json_line(std::string_view launch_id, Record const& cell) {
    Json line{{"kind", "cell"}, {"launch_id", launch_id}};
    FieldWriter writer(line);
    fields(writer, cell);
    return compact(line);
}

Record record_from(Json const& line) {
    Record cell;
    read_value(line, cell, "cell");
    cell.identity.cache = cell.cache.mode;
    return cell;
}

}  // namespace dlmb::record
