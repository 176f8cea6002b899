// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/tools/predict/commands/simulation_text.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace dlmb::predict::commands {
namespace {

/// The longest pieces, in the order of time.
std::vector<PathPiece> longest(std::vector<PathPiece> const& path, std::size_t most) {
    std::vector<PathPiece> pieces = path;
    if (pieces.size() > most) {
        std::stable_sort(pieces.begin(), pieces.end(), [](PathPiece const& left, PathPiece const& right) {
            return left.end - left.begin > right.end - right.begin;
        });
        pieces.resize(most);
        std::stable_sort(pieces.begin(), pieces.end(),
                         [](PathPiece const& left, PathPiece const& right) { return left.begin < right.begin; });
    }
    return pieces;
}

SimulationJson json_of(PathPiece const& piece, Program const& program) {
    Task const& task = program.tasks[piece.task];
    // The way of a message is told where it arrives.
    Rank const owner = piece.kind == PathPiece::Kind::in_flight ? program.rank_of(piece.task) : piece.rank;
    SimulationJson json{{"what", name_of(piece.kind)},
                        {"rank", piece.rank},
                        {"step", program.label_of(owner, piece.task)},
                        {"begin_ps", piece.begin},
                        {"end_ps", piece.end}};
    if (task.kind == TaskKind::send || task.kind == TaskKind::recv) {
        bool const sends = task.kind == TaskKind::send;
        json["from"] = sends ? owner : task.peer;
        json["to"] = sends ? task.peer : owner;
        json["bytes"] = task.amount;
    }
    return json;
}

/// The mean; sums of many ranks can be beyond 64 bits.
template <class TimeOf>
Picoseconds mean_of(std::size_t ranks, TimeOf const& time_of) {
    double mean = 0;
    for (std::size_t rank = 0; rank < ranks; ++rank) {
        mean += static_cast<double>(time_of(rank)) / static_cast<double>(ranks);
    }
    return static_cast<Picoseconds>(mean);
}

}  // namespace

SimulationJson to_json(Simulation const& simulation, SimulationJson const& context, std::size_t most_pieces) {
    SimulationJson json{{"schema", "dlmb.simulation/1.0"}};
    json.update(context);
    json["time_ps"] = simulation.time;
    json["messages"] = simulation.messages;
    json["events"] = simulation.events;
    json["phases"] = SimulationJson::array();
    for (PhaseTime const& phase : simulation.phases) {
        json["phases"].push_back({{"name", phase.name}, {"begin_ps", phase.begin}, {"end_ps", phase.end}});
    }
    TimeSplit const& split = simulation.split;
    SimulationJson pieces = SimulationJson::array();
    for (PathPiece const& piece : longest(simulation.path, most_pieces)) {
        pieces.push_back(json_of(piece, simulation.program));
    }
    json["critical_path"] = {{"split",
                              {{"compute_ps", split.compute},
                               {"overhead_ps", split.overhead},
                               {"latency_ps", split.latency},
                               {"bandwidth_ps", split.bandwidth},
                               {"contention_ps", split.contention}}},
                             {"pieces", simulation.path.size()},
                             {"longest", std::move(pieces)}};
    std::vector<Picoseconds> const& ends = simulation.ends;
    json["first_rank"] = std::min_element(ends.begin(), ends.end()) - ends.begin();
    json["last_rank"] = std::max_element(ends.begin(), ends.end()) - ends.begin();
    json["mean_end_ps"] = mean_of(ends.size(), [&](std::size_t rank) { return ends[rank]; });
    // Of the processors, until the last rank ends.
    json["mean_idle_ps"] = mean_of(ends.size(), [&](std::size_t rank) {
        return std::max<Picoseconds>(0, simulation.time - simulation.busy[rank]);
    });
    json["ends_ps"] = ends;
    return json;
}

std::string to_text(SimulationJson const& json, std::string const& title) {
    auto const us = [](SimulationJson const& time_ps) { return time_ps.get<double>() / picoseconds_per_us; };
    auto const share = [&json](SimulationJson const& time_ps) {
        auto const whole = json["time_ps"].get<double>();
        return whole == 0 ? 0.0 : 100 * time_ps.get<double>() / whole;
    };
    auto const number = [](SimulationJson const& value) { return value.get<std::uint64_t>(); };
    auto const word = [](SimulationJson const& value) { return value.get<std::string>(); };
    std::string text = fmt::format("{}\n\n{:<14} {:>14.3f} us\n{:<14} {:>14}\n", title, "time", us(json["time_ps"]),
                                   "messages", number(json["messages"]));
    text += fmt::format("{:<14} {:>14.3f} us, rank {} first, rank {} last; processors idle {:.1f} % of the time\n",
                        "mean rank", us(json["mean_end_ps"]), number(json["first_rank"]), number(json["last_rank"]),
                        share(json["mean_idle_ps"]));
    text += "\nphase                  begin us         end us\n";
    for (SimulationJson const& phase : json["phases"]) {
        text += fmt::format("{:<16} {:>14.3f} {:>14.3f}\n", word(phase["name"]), us(phase["begin_ps"]),
                            us(phase["end_ps"]));
    }
    SimulationJson const& path = json["critical_path"];
    text += "\nThe critical path is made of\n";
    for (auto const& [name, time] : path["split"].items()) {
        text += fmt::format("{:<16} {:>14.3f} us {:>6.1f} %\n", name.substr(0, name.find('_')), us(time), share(time));
    }
    SimulationJson const& pieces = path["longest"];
    if (!pieces.empty()) {
        text += fmt::format("\n{} of its {} pieces, the longest:\n{:>14} {:>12}  {:<8} {:<7} {:<24} message\n",
                            pieces.size(), number(path["pieces"]), "begin us", "us", "rank", "what", "step");
    }
    for (SimulationJson const& piece : pieces) {
        auto const takes = piece["end_ps"].get<Picoseconds>() - piece["begin_ps"].get<Picoseconds>();
        text += fmt::format("{:>14.3f} {:>12.3f}  {:<8} {:<7} ", us(piece["begin_ps"]), us(takes),
                            number(piece["rank"]), word(piece["what"]));
        text += piece.contains("from") ? fmt::format("{:<24} {} -> {}, {} B\n", word(piece["step"]),
                                                     number(piece["from"]), number(piece["to"]), number(piece["bytes"]))
                                       : word(piece["step"]) + "\n";
    }
    return text;
}

}  // namespace dlmb::predict::commands
