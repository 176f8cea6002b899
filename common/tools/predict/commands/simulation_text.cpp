// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/tools/predict/commands/simulation_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace dlmb::predict::commands {
namespace {

double us(Picoseconds time) {
    return static_cast<double>(time) / picoseconds_per_us;
}

std::array<std::pair<std::string_view, Picoseconds>, 5> parts_of(TimeSplit const& split) {
    return {{{"compute", split.compute},
             {"overhead", split.overhead},
             {"latency", split.latency},
             {"bandwidth", split.bandwidth},
             {"contention", split.contention}}};
}

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

/// The message of a piece; its way is told where it arrives.
struct PieceText {
    std::string_view step;
    std::optional<Rank> from;
    std::optional<Rank> to;
    Bytes bytes = 0;
};
PieceText piece_text(PathPiece const& piece, Program const& program) {
    Task const& task = program.tasks[piece.task];
    Rank const owner = piece.kind == PathPiece::Kind::in_flight ? program.rank_of(piece.task) : piece.rank;
    PieceText text{program.label_of(owner, piece.task), std::nullopt, std::nullopt, 0};
    if (task.kind == TaskKind::send || task.kind == TaskKind::recv) {
        text.bytes = task.amount;
        text.from = task.kind == TaskKind::send ? owner : task.peer;
        text.to = task.kind == TaskKind::send ? task.peer : owner;
    }
    return text;
}

struct RankTimes {
    Rank first = 0;
    Rank last = 0;
    Picoseconds mean_end = 0;
    Picoseconds mean_idle = 0;  // of the processors, until the last rank ends
};
RankTimes times_of_ranks(Simulation const& simulation) {
    std::vector<Picoseconds> const& ends = simulation.ends;
    RankTimes times;
    times.first = static_cast<Rank>(std::min_element(ends.begin(), ends.end()) - ends.begin());
    times.last = static_cast<Rank>(std::max_element(ends.begin(), ends.end()) - ends.begin());
    // Sums of many ranks can be beyond 64 bits.
    double end = 0;
    double idle = 0;
    for (std::size_t rank = 0; rank < ends.size(); ++rank) {
        end += static_cast<double>(ends[rank]) / static_cast<double>(ends.size());
        idle += static_cast<double>(std::max<Picoseconds>(0, simulation.time - simulation.busy[rank])) /
                static_cast<double>(ends.size());
    }
    times.mean_end = static_cast<Picoseconds>(end);
    times.mean_idle = static_cast<Picoseconds>(idle);
    return times;
}

}  // namespace

nlohmann::ordered_json to_json(Simulation const& simulation, SimulationContext const& context,
                               std::size_t most_pieces) {
    nlohmann::ordered_json json{{"schema", "dlmb.simulation/1.0"}};
    json.update(context);
    RankTimes const ranks = times_of_ranks(simulation);
    json["time_ps"] = simulation.time;
    json["messages"] = simulation.messages;
    json["events"] = simulation.events;
    nlohmann::ordered_json phases = nlohmann::ordered_json::array();
    for (PhaseTime const& phase : simulation.phases) {
        phases.push_back({{"name", phase.name}, {"begin_ps", phase.begin}, {"end_ps", phase.end}});
    }
    json["phases"] = std::move(phases);
    nlohmann::ordered_json split;
    for (auto const& [name, time] : parts_of(simulation.split)) {
        split[fmt::format("{}_ps", name)] = time;
    }
    nlohmann::ordered_json pieces = nlohmann::ordered_json::array();
    for (PathPiece const& piece : longest(simulation.path, most_pieces)) {
        PieceText const text = piece_text(piece, simulation.program);
        nlohmann::ordered_json one{{"what", name_of(piece.kind)},
                                   {"rank", piece.rank},
                                   {"step", text.step},
                                   {"begin_ps", piece.begin},
                                   {"end_ps", piece.end}};
        if (text.from) {
            one["from"] = *text.from;
            one["to"] = *text.to;
            one["bytes"] = text.bytes;
        }
        pieces.push_back(std::move(one));
    }
    json["critical_path"] = {
        {"split", std::move(split)}, {"pieces", simulation.path.size()}, {"longest", std::move(pieces)}};
    json["first_rank"] = ranks.first;
    json["last_rank"] = ranks.last;
    json["mean_end_ps"] = ranks.mean_end;
    json["mean_idle_ps"] = ranks.mean_idle;
    json["ends_ps"] = simulation.ends;
    return json;
}

std::string to_text(Simulation const& simulation, std::string const& title, std::size_t most_pieces) {
    RankTimes const ranks = times_of_ranks(simulation);
    auto const share = [&simulation](Picoseconds time) {
        return simulation.time == 0 ? 0.0 : 100 * static_cast<double>(time) / static_cast<double>(simulation.time);
    };
    std::string text = fmt::format("{}\n\n{:<14} {:>14.3f} us\n{:<14} {:>14}\n", title, "time", us(simulation.time),
                                   "messages", simulation.messages);
    text += fmt::format("{:<14} {:>14.3f} us, rank {} first, rank {} last; processors idle {:.1f} % of the time\n",
                        "mean rank", us(ranks.mean_end), ranks.first, ranks.last, share(ranks.mean_idle));
    text += "\nphase                  begin us         end us\n";
    for (PhaseTime const& phase : simulation.phases) {
        text += fmt::format("{:<16} {:>14.3f} {:>14.3f}\n", phase.name, us(phase.begin), us(phase.end));
    }
    text += "\nThe critical path is made of\n";
    for (auto const& [name, time] : parts_of(simulation.split)) {
        text += fmt::format("{:<16} {:>14.3f} us {:>6.1f} %\n", name, us(time), share(time));
    }
    std::vector<PathPiece> const pieces = longest(simulation.path, most_pieces);
    if (!pieces.empty()) {
        text += fmt::format("\n{} of its {} pieces, the longest:\n{:>14} {:>12}  {:<8} {:<7} {:<24} message\n",
                            pieces.size(), simulation.path.size(), "begin us", "us", "rank", "what", "step");
    }
    for (PathPiece const& piece : pieces) {
        PieceText const what = piece_text(piece, simulation.program);
        std::string const message =
            what.from ? fmt::format(" {} -> {}, {} B", *what.from, *what.to, what.bytes) : std::string();
        text += fmt::format("{:>14.3f} {:>12.3f}  {:<8} {:<7} {}{}\n", us(piece.begin), us(piece.end - piece.begin),
                            piece.rank, name_of(piece.kind),
                            message.empty() ? std::string(what.step) : fmt::format("{:<24}", what.step), message);
    }
    return text;
}

}  // namespace dlmb::predict::commands
