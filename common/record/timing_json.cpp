// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/record/timing_json.hpp"

namespace dlmb::record {
namespace {

Json suspects_json(std::vector<measure::Suspect> const& suspects) {
    Json list = Json::array();
    for (measure::Suspect const& suspect : suspects) {
        list.push_back({{"rank", suspect.rank},
                        {"kind", name_of(suspect.kind)},
                        {"ns", finite(suspect.ns, "suspects.ns")},
                        {"others_ns", finite(suspect.others_ns, "suspects.others_ns")}});
    }
    return list;
}

std::vector<measure::Suspect> suspects_from(Json const& list) {
    using Kind = measure::Suspect::Kind;
    std::vector<measure::Suspect> suspects;
    for (Json const& each : list) {
        Kind const kind = read_name("suspects.kind", each.at("kind"), std::array{Kind::delayed, Kind::jittery});
        suspects.push_back({each.at("rank"), kind, each.at("ns"), each.at("others_ns")});
    }
    return suspects;
}

}  // namespace

void write_timing(measure::CellResult const& result, Json& line) {
    for (char const* const field :
         {"sync", "skew_ns", "last_arrival_ns", "imbalance_time", "critical_phase", "rank_times_ns", "suspects"}) {
        line[field] = nullptr;
    }
    if (result.status != measure::Status::ok) {
        return;
    }
    line["sync"] = {{"method", result.sync.method},
                    {"margin_ns", result.sync.margin_ns},
                    {"late", result.sync.late},
                    {"clock_err_ns", result.sync.clock_error_ns},
                    {"drift_ppm", finite(result.sync.drift_ppm, "sync.drift_ppm")}};
    measure::Arrival const& arrival = result.arrival;
    line["skew_ns"] = {{"p50", finite(arrival.skew_median_ns, "skew_ns.p50")}, {"p99", nullptr}};
    if (arrival.skew_p99_ns) {
        line["skew_ns"]["p99"] = finite(*arrival.skew_p99_ns, "skew_ns.p99");
    }
    line["last_arrival_ns"] = finite(arrival.last_arrival_ns, "last_arrival_ns");
    line["imbalance_time"] = finite(arrival.imbalance_time, "imbalance_time");
    if (result.critical_phase) {
        line["critical_phase"] = {{"label", result.critical_phase->label},
                                  {"share", finite(result.critical_phase->share, "critical_phase.share")}};
    }
    line["rank_times_ns"] = {{"enter", finite_list(result.ranks.enter_ns, "rank_times_ns.enter")},
                             {"posted", finite_list(result.ranks.posted_ns, "rank_times_ns.posted")},
                             {"spread", finite_list(result.ranks.spread_ns, "rank_times_ns.spread")}};
    line["suspects"] = suspects_json(result.suspects);
}

void read_timing(Json const& line, measure::CellResult& result) {
    if (!line.contains("sync") || line.at("sync").is_null()) {
        return;
    }
    Json const& sync = line.at("sync");
    result.sync = {sync.at("method"), sync.at("margin_ns"), sync.at("late"), sync.at("clock_err_ns"),
                   sync.value("drift_ppm", 0.0)};
    Json const& skew = line.at("skew_ns");
    result.arrival.skew_median_ns = skew.at("p50");
    if (!skew.at("p99").is_null()) {
        result.arrival.skew_p99_ns = skew.at("p99").get<double>();
    }
    result.arrival.last_arrival_ns = line.at("last_arrival_ns");
    result.arrival.imbalance_time = line.at("imbalance_time");
    if (Json const& phase = line.at("critical_phase"); !phase.is_null()) {
        result.critical_phase = measure::CriticalPhase{phase.at("label"), phase.at("share")};
    }
    Json const& ranks = line.at("rank_times_ns");
    result.ranks = {ranks.at("enter").get<std::vector<double>>(), ranks.at("posted").get<std::vector<double>>(),
                    ranks.at("spread").get<std::vector<double>>()};
    if (line.contains("suspects")) {
        result.suspects = suspects_from(line.at("suspects"));
    }
}

}  // namespace dlmb::record
