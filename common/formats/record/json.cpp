// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// The line of a cell, in which what only a finished measurement has is null where there was none, so that no reader
// takes a zero for a time. And the first and the last line of a launch: its environment, its calibration, and how its
// cells ended.
#include "common/formats/record/json.hpp"

#include <algorithm>
#include <cmath>

namespace dlmb::json {

template <>
inline constexpr std::array every_value<record::Status>{record::Status::ok, record::Status::skipped,
                                                        record::Status::failed, record::Status::timeout,
                                                        record::Status::invalid};
template <>
inline constexpr std::array every_value<record::Verdict>{record::Verdict::passed, record::Verdict::failed,
                                                         record::Verdict::off};
template <>
inline constexpr std::array every_value<record::Better>{record::Better::lower, record::Better::higher,
                                                        record::Better::neither};
template <>
inline constexpr std::array every_value<record::Suspect::Kind>{record::Suspect::Kind::delayed,
                                                               record::Suspect::Kind::jittery};
template <>
inline constexpr auto every_value<record::CacheMode> = record::every_cache_mode;
template <>
inline constexpr auto every_value<record::Fill> = record::every_fill;
template <>
inline constexpr std::array every_value<Processor>{Processor::host, Processor::device};
template <>
inline constexpr std::array every_value<record::Effort>{record::Effort::brief, record::Effort::full};

}  // namespace dlmb::json

namespace dlmb::record {

namespace {

/// Host time that the device did not spend, as a share of the host's median, from which on the host is what was
/// measured.
constexpr double host_bound_share = 0.2;

/// Null without a time; a single figure is null where nothing moved, as in a world of one rank.
/// `divisor`: how many times longer all of `traffic` takes than `time_ns` says.
Json bandwidth_json(TrafficSummary const& traffic, double time_ns, int divisor = 1) {
    if (!(time_ns > 0)) {
        return nullptr;
    }
    Bandwidth const rates = bandwidth(traffic, time_ns);
    auto const rate = [](auto bytes, double value, char const* field) {
        return bytes > 0 ? json::finite(value, json::Place(field)) : Json(nullptr);
    };
    return {{"algbw_GBps", rate(traffic.largest_total_bytes, rates.algbw_GBps, "algbw_GBps")},
            {"busbw_GBps", rate(traffic.busiest_rank_bytes, rates.busbw_GBps, "busbw_GBps")},
            {"aggregate_GBps", rate(traffic.wire_bytes, rates.aggregate_GBps / divisor, "aggregate_GBps")}};
}

/// Readers refuse lines beyond 64 MiB, and with them the file.
bool leaves_samples_out(CellResult const& result) {
    constexpr std::size_t most_samples = 4'000'000;
    return result.samples_ns.size() > most_samples;
}

}  // namespace

void fields(auto& io, json::Of<TrafficSummary> auto& traffic) {
    io("payload_bytes", traffic.payload_bytes);
    io("wire_bytes", traffic.wire_bytes);
    io("self_bytes", traffic.self_bytes);
    io("busiest_rank_bytes", traffic.busiest_rank_bytes);
    io("largest_total_bytes", traffic.largest_total_bytes);
    io("balanced_rank_bytes", traffic.balanced_rank_bytes);
    io("imbalance_send", traffic.imbalance_send);
    io("imbalance_recv", traffic.imbalance_recv);
}

void fields(auto& io, json::Of<TimeSummary> auto& time) {
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
    io.derived("iqr", [&] { return json::finite(time.q3 - time.q1, json::Place("iqr")); });
    io("outliers", time.outliers);
    io("samples", time.samples);
}

/// With what percentiles are taken over.
void time_fields(auto& io, json::Of<TimeSummary> auto& time, bool mean_over_ranks = false) {
    fields(io, time);
    io.derived("axis",
               [&] { return mean_over_ranks ? "mean over ranks per iteration" : "max over ranks per iteration"; });
}

void fields(auto& io, json::Of<RankMeans> auto& means) {
    io("mean", means.mean);
    io("min", means.min);
    io("max", means.max);
}

void fields(auto& io, json::Of<Straggler> auto& straggler) {
    io("rank", straggler.rank);
    io("share", straggler.share);
}

void fields(auto& io, json::Of<Sync> auto& sync) {
    io("method", sync.method);
    io("margin_ns", sync.margin_ns);
    io("late", sync.late);
    io("clock_err_ns", sync.clock_error_ns);
    io("drift_ppm", sync.drift_ppm);
}

void fields(auto& io, json::Of<QuotaUse> auto& quota) {
    io("periods", quota.periods);
    io("throttled", quota.throttled);
    io("throttled_ns", quota.throttled_ns);
}

void fields(auto& io, json::Of<CriticalPhase> auto& phase) {
    io("label", phase.label);
    io("share", phase.share);
}

void fields(auto& io, json::Of<RankTimes> auto& ranks) {
    io("enter", ranks.enter_ns);
    io("posted", ranks.posted_ns);
    io("spread", ranks.spread_ns);
}

void fields(auto& io, json::Of<Suspect> auto& suspect) {
    io("rank", suspect.rank);
    io("kind", suspect.kind);
    io("ns", suspect.ns);
    io("others_ns", suspect.others_ns);
}

void fields(auto& io, json::Of<Figure> auto& figure) {
    io("name", figure.name);
    io("value", figure.value);
    io("unit", figure.unit);
    io("better", figure.better);
    io("from", figure.from);
}

void fields(auto& io, json::Of<DeviceTiming> auto& device) {
    io.object("time_ns", [&](auto& inner) { time_fields(inner, device.time); });
    io("host_overhead_ns", device.host_overhead_ns);
    io.derived("host_bound", [&] {
        double const host_median_ns = device.time.median + device.host_overhead_ns;
        return device.host_overhead_ns > host_bound_share * host_median_ns;
    });
    std::string gate = device.gated ? "spin" : "none";
    io("gpu_gate", gate);
    io.set(device.gated, gate == "spin");
}

void fields(auto& io, json::Of<Queueing> auto& queueing) {
    io("host_ns", queueing.host_ns);
    io("host_bound", queueing.host_bound);
}

void fields(auto& io, json::Of<SampleSeries> auto& series) {
    io("lag1", series.lag1);
    io("ess", series.effective_samples);
    io("drift", series.drift);
    io("step_at", series.step_at);
}

void fields(auto& io, json::Of<Validation> auto& validation) {
    io("verdict", validation.verdict);
    io("blocks_checked", validation.blocks_checked);
    io.if_known("timed_checked", validation.timed_checked);
    io("draws_checked", validation.draws_checked);
    io("slots_checked", validation.slots_checked);
    io("first_mismatch", validation.first_mismatch);
}

void fields(auto& io, json::Of<PlainCopy> auto& copy) {
    io("by", copy.by);
    io("bytes", copy.bytes);
    io("time_ns", copy.time_ns);
}

void fields(auto& io, json::Of<CacheUse> auto& cache) {
    io("mode", cache.mode);
    io("slots", cache.slots);
    io("pool_bytes", cache.pool_bytes);
    io("cache_bytes", cache.cache_bytes);
    io("flush_bytes", cache.flush_bytes);
    io("covers_llc", cache.covers_llc);
}

void fields(auto& io, json::Of<HostPages> auto& pages) {
    io("pages_sampled", pages.sampled);
    io("pages_elsewhere", pages.elsewhere);
    io("huge_page_bytes", pages.huge_page_bytes);
}

void parameter_fields(auto& io, auto& parameters) {
    io.as(
        "parameters", parameters, [](auto const& values) { return parameters_json(values); },
        [](Json const& from, auto& values) {
            for (auto const& [name, value] : from.items()) {
                values.emplace(name, parameter_text(value));
            }
        });
}

/// The cache mode is a field of `cache`.
void fields(auto& io, json::Of<CellIdentity> auto& identity) {
    io("pattern", identity.pattern);
    io("preset", identity.preset);
    parameter_fields(io, identity.parameters);
    io("backend", identity.backend);
    io("method", identity.method);
    io("memory", identity.memory);
    io("mode", identity.mode);
    io("world", identity.world);
    io("seed", identity.seed);
    io("draws", identity.draws);
    io("fill", identity.fill);
    io.if_known("beside", identity.beside);
}

void fields(auto& io, json::Of<MedianInterval> auto& interval) {
    io("median", interval.median);
    io("low", interval.low);
    io("high", interval.high);
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
                    phase_io.if_known("ended_ns", found->ended);
                }
                phase_io("traffic", phase.traffic);
                phase_io.derived("bandwidth",
                                 [&] { return bandwidth_json(phase.traffic, known ? found->time.median : 0); });
                phase_io.if_known("plain_copy", phase.plain_copy);
            });
        }
    });
}

void phase_fields(FieldReader& io, Record& cell) {
    for (auto const& [label, phase] : io.json().at("phases").items()) {
        cell.phases.push_back({label, {}});
        read_value(phase.at("traffic"), cell.phases.back().traffic, "traffic");
        FieldReader(phase).if_known("plain_copy", cell.phases.back().plain_copy);
        if (phase.contains("median")) {
            cell.result.phases.push_back({label, {}});
            read_value(phase, cell.result.phases.back().time, "phases");
            FieldReader(phase).if_known("ended_ns", cell.result.phases.back().ended);
        }
    }
}

/// From time_ns to device: what only an ok cell has.
void measured_fields(auto& io, json::Of<Record> auto& cell) {
    auto& result = cell.result;
    bool const ok = result.status == Status::ok;
    io.object(
        "time_ns", [&](auto& inner) { time_fields(inner, result.time, result.rank_means.has_value()); }, ok);
    io.where(ok && !leaves_samples_out(result), "samples_ns", result.samples_ns, Json::array());
    io.derived("bandwidth",
               [&] { return bandwidth_json(cell.traffic, ok ? result.time.median : 0, result.time_divisor); });
    io.where(ok, "setup_ns", result.setup_ns);
    io.where(ok, "first_iteration_ns", result.first_iteration_ns);
    io.where(ok, "straggler", result.straggler);
    io.where(ok, "sync", result.sync);
    io.object(
        "skew_ns",
        [&](auto& skew) {
            skew("p50", result.arrival.skew_median_ns);
            skew("p99", result.arrival.skew_p99_ns);
        },
        ok);
    io.where(ok, "last_arrival_ns", result.arrival.last_arrival_ns);
    io.where(ok, "imbalance_time", result.arrival.imbalance_time);
    io.where(ok, "critical_phase", result.critical_phase);
    io.where(ok, "rank_times_ns", result.ranks);
    io.where(ok, "suspects", result.suspects);
    io.where(ok, "device", result.device);
}

void statistics_field(auto& io, auto& statistics) {
    io.as("statistics", statistics, statistics_json,
          [](Json const& from, auto& values) { read_value(from, values, "statistics"); });
}

void fields(auto& io, json::Of<Record> auto& cell) {
    auto& result = cell.result;
    io("cell_id", cell.cell_id);
    fields(io, cell.identity);
    io("status", result.status);
    io("reason", result.reason);
    io("traffic", cell.traffic);
    io.if_known("traffic_hash", cell.traffic_hash);
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
    io.if_known("rank_means_ns", result.rank_means);
    io("warmup_iterations", result.warmup_iterations);
    io("stop_reason", result.stop_reason);
    io.if_known("queueing", result.queueing);
    io.if_known("throttled", result.throttled);
    io.if_known("cpu_quota", result.cpu_quota);
    io.if_known("dropped", result.dropped);
    io.if_known("figures", result.figures);
    io("definition", result.definition);
    io("iterations_per_sample", result.iterations_per_sample);
    io("validation", result.validation);
    statistics_field(io, cell.statistics);
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
    if (leaves_samples_out(cell.result)) {
        line["samples_left_out"] = true;
    }
    return compact(line);
}

namespace {

/// The fields of a converted cell for a table of methods. Its time is one number.
Record converted_from(Json const& line) {
    Record cell;
    FieldReader io(line);
    io("cell_id", cell.cell_id);
    io("pattern", cell.identity.pattern);
    parameter_fields(io, cell.identity.parameters);
    io("backend", cell.identity.backend);
    io("method", cell.identity.method);
    io("memory", cell.identity.memory);
    io("mode", cell.identity.mode);
    io("world", cell.identity.world);
    io("status", cell.result.status);
    io("reason", cell.result.reason);
    io("definition", cell.result.definition);
    io("backend_facts", cell.backend_facts);
    io("is_default", cell.is_default);
    io.object("origin", [&](auto& origin) { origin("suite", cell.origin.emplace().suite); });
    cell.result.validation.verdict = Verdict::off;
    Json const& time = line.at("time_ns");
    for (char const* statistic : {"median", "mean"}) {
        if (time.is_object() && time.contains(statistic) && cell.origin->statistic.empty()) {
            cell.origin->statistic = statistic;
            read_value(time.at(statistic), cell.result.time.median, statistic);
            cell.result.time.samples = time.value("samples", std::uint64_t{0});
        }
    }
    return cell;
}

}  // namespace

Record record_from(Json const& line) {
    if (line.contains("origin")) {
        return converted_from(line);
    }
    Record cell;
    read_value(line, cell, "cell");
    cell.identity.cache = cell.cache.mode;
    return cell;
}

void fields(auto& io, json::Of<Environment> auto& environment) {
    io("env_key", environment.env_key);
    io("identity", environment.identity);
    io("informational", environment.informational);
    io("variables", environment.variables);
    io("ranks", environment.ranks);
    io("largest_cache_bytes", environment.largest_cache);
    io("warnings", environment.warnings);
}

void fields(auto& io, json::Of<TimerFloor> auto& timer) {
    io("cost_ns", timer.cost_ns);
    io("step_ns", timer.step_ns);
    io("empty_region_ns", timer.empty_region_ns);
}

void fields(auto& io, json::Of<WorkQuanta> auto& quanta) {
    io("median_ns", quanta.median_ns);
    io("p99_over_min", quanta.p99_over_min);
    io("largest_detour_ns", quanta.largest_detour_ns);
}

void fields(auto& io, json::Of<BarrierFloor::ExitSkew> auto& skew) {
    io("p50", skew.p50_ns);
    io("p99", skew.p99_ns);
}

void fields(auto& io, json::Of<BarrierFloor> auto& barrier) {
    io("count", barrier.count);
    io("median_ns", barrier.median_ns);
    io("exit_skew_ns", barrier.exit_skew);
}

/// `time`: what the time of one link is called.
void link_fields(auto& io, json::Of<LinkFloor::Times> auto& times, char const* time) {
    io("median_ns", times.median_ns);
    io.objects("slow", times.slow, [&](auto& each, auto& link) {
        each("ranks", link.ranks);
        each(time, link.ns);
    });
}

void fields(auto& io, json::Of<LinkFloor> auto& links) {
    io("count", links.count);
    link_fields(io, links.round_trips, "round_trip_ns");
    io.object("transfers", [&](auto& inner) { link_fields(inner, links.transfers, "transfer_ns"); });
}

void fields(auto& io, json::Of<ExchangeFloor> auto& exchange) {
    io("backend", exchange.backend);
    io("memory", exchange.memory);
    io("median_ns", exchange.median_ns);
}

void fields(auto& io, json::Of<DeviceFloor> auto& device) {
    io("event_pair_ns", device.event_pair_ns);
    io("queue_and_wait_ns", device.queue_and_wait_ns);
    io("gate_release_ns", device.gate_release_ns);
}

void fields(auto& io, json::Of<Calibration> auto& calibration) {
    io("effort", calibration.effort);
    io("timer", calibration.timer);
    io("work_quanta", calibration.quanta);
    io("barrier", calibration.barrier);
    io("links", calibration.links);
    io("exchange_8_bytes", calibration.exchanges);
    io("device", calibration.device);
}

void fields(auto& io, json::Of<Launch> auto& launch) {
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

void fields(auto& io, json::Of<Derived> auto& derived) {
    io.derived("kind", [] { return "derived"; });
    io("launch_id", derived.launch_id);
    io("cell_id", derived.cell_id);
    statistics_field(io, derived.statistics);
}

void fields(auto& io, json::Of<SelfComparison> auto& comparison) {
    io("cells", comparison.cells);
    io("median", comparison.median);
    io("largest", comparison.largest);
    io("largest_cell", comparison.largest_cell);
}

void fields(auto& io, json::Of<End> auto& end) {
    io.derived("kind", [] { return "end"; });
    io("launch_id", end.launch_id);
    io("status", end.status);
    io("cells", end.cells);
    io("self_comparison", end.self_comparison);
}

std::string to_json_line(Launch const& launch) {
    return compact(write_value(launch, "launch"));
}

std::string to_json_line(Derived const& derived) {
    return compact(write_value(derived, "derived"));
}

std::string to_json_line(End const& end) {
    return compact(write_value(end, "end"));
}

Launch launch_from(Json const& line) {
    Launch launch;
    if (!line.contains("origin")) {
        read_value(line, launch, "launch");
        return launch;
    }
    FieldReader io(line);
    io("launch_id", launch.launch_id);
    io("campaign_id", launch.campaign_id);
    io("program", launch.program);
    io("world", launch.world);
    io("environment", launch.environment);
    io.object("origin", [&](auto& origin) { origin("suite", launch.origin.emplace().suite); });
    return launch;
}

Derived derived_from(Json const& line) {
    Derived derived;
    read_value(line, derived, "derived");
    return derived;
}

End end_from(Json const& line) {
    End end;
    read_value(line, end, "end");
    return end;
}

Json calibration_json(std::optional<Calibration> const& calibration) {
    return write_value(calibration, "calibration");
}

Json parameter_json(std::string const& value) {
    bool const plain = !value.empty() && std::all_of(value.begin(), value.end(), [](char character) {
        return (character >= '0' && character <= '9') || character == '.' || character == '-';
    });
    if (plain) {
        Json number = Json::parse(value, nullptr, false);
        if (number.is_number() && number.dump() == value) {
            return number;
        }
    }
    return value;
}

std::string parameter_text(Json const& value) {
    return value.is_string() ? value.get<std::string>() : value.dump();
}

Json statistics_json(std::map<std::string, double> const& statistics) {
    Json object = Json::object();
    for (auto const& [name, value] : statistics) {
        if (std::isfinite(value)) {
            object[name] = value;
        }
    }
    return object;
}

std::string compact(Json const& value) {
    return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::vector<std::byte> to_blob(Json const& value) {
    std::string const text = compact(value);
    auto const* first = reinterpret_cast<std::byte const*>(text.data());
    return {first, first + text.size()};
}

Json from_blob(std::vector<std::byte> const& blob) {
    auto const* first = reinterpret_cast<char const*>(blob.data());
    return Json::parse(first, first + blob.size());
}

}  // namespace dlmb::record
