// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/record/calibration_json.hpp"

#include "common/record/cell_statistics_json.hpp"

namespace dlmb::record {
namespace {

Json exit_skew_json(std::optional<measure::BarrierFloor::ExitSkew> const& skew) {
    if (!skew) {
        return nullptr;
    }
    return {{"p50", finite(skew->p50_ns, "exit_skew_ns.p50")}, {"p99", finite(skew->p99_ns, "exit_skew_ns.p99")}};
}

/// `field`: what the time of a link is called.
Json link_times_json(measure::LinkFloor::Times const& times, std::string const& field) {
    Json slow = Json::array();
    for (measure::LinkFloor::Link const& link : times.slow) {
        slow.push_back({{"ranks", link.ranks}, {field, finite(link.ns, "slow." + field)}});
    }
    return {{"median_ns", finite(times.median_ns, "links.median_ns")}, {"slow", slow}};
}

measure::LinkFloor::Times link_times_from(Json const& object, std::string const& field) {
    measure::LinkFloor::Times times{object.at("median_ns"), {}};
    for (Json const& link : object.at("slow")) {
        times.slow.push_back({link.at("ranks").get<std::array<Rank, 2>>(), link.at(field)});
    }
    return times;
}

Json links_json(std::optional<measure::LinkFloor> const& links) {
    if (!links) {
        return nullptr;
    }
    Json object = link_times_json(links->round_trips, "round_trip_ns");
    object["count"] = links->count;
    object["transfers"] = link_times_json(links->transfers, "transfer_ns");
    return object;
}

measure::LinkFloor links_from(Json const& object) {
    measure::LinkFloor links{object.at("count"), link_times_from(object, "round_trip_ns"), {}};
    if (auto const transfers = object.find("transfers"); transfers != object.end()) {
        links.transfers = link_times_from(*transfers, "transfer_ns");
    }
    return links;
}

Json exchanges_json(std::vector<measure::ExchangeFloor> const& exchanges) {
    Json list = Json::array();
    for (measure::ExchangeFloor const& each : exchanges) {
        list.push_back({{"backend", each.backend},
                        {"memory", each.memory},
                        {"median_ns", finite(each.median_ns, "exchange_8_bytes.median_ns")}});
    }
    return list;
}

Json device_json(std::optional<measure::DeviceFloor> const& device) {
    if (!device) {
        return nullptr;
    }
    return {{"event_pair_ns", finite(device->event_pair_ns, "event_pair_ns")},
            {"queue_and_wait_ns", finite(device->queue_and_wait_ns, "queue_and_wait_ns")},
            {"gate_release_ns", finite(device->gate_release_ns, "gate_release_ns")}};
}

measure::BarrierFloor barrier_from(Json const& object) {
    measure::BarrierFloor barrier{object.at("count"), object.at("median_ns"), std::nullopt};
    if (Json const& skew = object.at("exit_skew_ns"); !skew.is_null()) {
        barrier.exit_skew = {skew.at("p50"), skew.at("p99")};
    }
    return barrier;
}

}  // namespace

Json calibration_json(std::optional<measure::Calibration> const& calibration) {
    if (!calibration) {
        return nullptr;
    }
    auto const& [effort, timer, quanta, barrier, links, exchanges, device] = *calibration;
    return {{"effort", measure::name_of(effort)},
            {"timer",
             {{"cost_ns", finite(timer.cost_ns, "timer.cost_ns")},
              {"step_ns", finite(timer.step_ns, "timer.step_ns")},
              {"empty_region_ns", finite(timer.empty_region_ns, "timer.empty_region_ns")}}},
            {"work_quanta",
             {{"median_ns", finite(quanta.median_ns, "work_quanta.median_ns")},
              {"p99_over_min", finite_list(quanta.p99_over_min, "work_quanta.p99_over_min")},
              {"largest_detour_ns", quanta.largest_detour_ns}}},
            {"barrier",
             {{"count", barrier.count},
              {"median_ns", finite(barrier.median_ns, "barrier.median_ns")},
              {"exit_skew_ns", exit_skew_json(barrier.exit_skew)}}},
            {"links", links_json(links)},
            {"exchange_8_bytes", exchanges_json(exchanges)},
            {"device", device_json(device)}};
}

std::optional<measure::Calibration> calibration_from(Json const& value) {
    if (value.is_null()) {
        return std::nullopt;
    }
    measure::Calibration calibration;
    calibration.effort = value.at("effort") == "full" ? measure::Effort::full : measure::Effort::brief;
    Json const& timer = value.at("timer");
    calibration.timer = {timer.at("cost_ns"), timer.at("step_ns"), timer.at("empty_region_ns")};
    Json const& quanta = value.at("work_quanta");
    calibration.quanta.median_ns = quanta.at("median_ns");
    calibration.quanta.p99_over_min = quanta.at("p99_over_min").get<std::vector<double>>();
    calibration.quanta.largest_detour_ns = quanta.at("largest_detour_ns").get<std::vector<Nanoseconds>>();
    calibration.barrier = barrier_from(value.at("barrier"));
    if (Json const& links = value.at("links"); !links.is_null()) {
        calibration.links = links_from(links);
    }
    for (Json const& each : value.at("exchange_8_bytes")) {
        calibration.exchanges.push_back({each.at("backend"), each.at("memory"), each.at("median_ns")});
    }
    if (Json const& device = value.at("device"); !device.is_null()) {
        calibration.device = {device.at("event_pair_ns"), device.at("queue_and_wait_ns"), device.at("gate_release_ns")};
    }
    return calibration;
}

}  // namespace dlmb::record
