// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/tools/predict/simulator/simulation.hpp"

#include <algorithm>
#include <array>
#include <map>

namespace dlmb::predict {
namespace {

class Analysis {
public:
    Analysis(Simulation& simulation, Machine const& machine, LinkNetwork const* network)
        : simulation_(simulation), program_(simulation.program), tasks_(simulation.program.tasks), machine_(machine),
          network_(network) {}

    void run() {
        std::vector<std::size_t> const phase_of_label = list_phases();
        TaskId last = no_task;
        for (Rank rank = 0; rank < program_.ranks(); ++rank) {
            auto const at = static_cast<std::size_t>(rank);
            Picoseconds& rank_end = simulation_.ends.emplace_back(0);
            std::uint32_t step = program_.first_step[at];
            for (TaskId task = program_.first_task[at]; task < program_.first_task[at + 1]; ++task) {
                while (step + 1 < program_.first_step[at + 1] && program_.steps[step + 1].first <= task) {
                    ++step;
                }
                Picoseconds const end = end_of(task, rank);
                rank_end = std::max(rank_end, end);
                if (end > simulation_.time || last == no_task) {
                    simulation_.time = end;
                    last = task;
                }
                PhaseTime& phase = simulation_.phases[phase_of_label[program_.steps[step].label]];
                phase.begin = std::min(phase.begin, tasks_[task].time);
                phase.end = std::max(phase.end, end);
            }
        }
        for (Rank rank = program_.ranks(); rank < program_.world; ++rank) {
            simulation_.ends.push_back(simulation_.ends[static_cast<std::size_t>(program_.representative_of(rank))]);
        }
        if (last != no_task) {
            follow(last);
        }
        std::reverse(simulation_.path.begin(), simulation_.path.end());
    }

private:
    [[nodiscard]] LogGopsParameters parameters(Task const& task, Rank rank) const {
        return machine_.parameters(rank, task.peer, task.amount);
    }
    [[nodiscard]] bool flows(Task const& message, Rank rank) const {
        return is_flow(machine_, network_, rank, message.peer);
    }
    /// When the processor is done with it.
    [[nodiscard]] Picoseconds cpu_end(TaskId task, Rank rank) const {
        Task const& is = tasks_[task];
        if (is.kind == TaskKind::send) {
            LogGopsParameters const costs = parameters(is, rank);
            return is.time + costs.overhead + time_of_further_bytes(is.amount, costs.overhead_per_byte);
        }
        return is.time + (is.kind == TaskKind::recv ? parameters(is, rank).overhead : duration(is, machine_));
    }
    [[nodiscard]] bool waits_for_receive(Task const& task) const {
        return task.kind == TaskKind::send && task.amount > machine_.eager_limit;
    }
    [[nodiscard]] Picoseconds end_of(TaskId task, Rank rank) const {
        Task const& is = tasks_[task];
        return waits_for_receive(is) ? cpu_end(is.match, program_.representative_of(is.peer)) : cpu_end(task, rank);
    }

    /// Labels "phase.a" and "phase.b" are one phase, whose place is returned by label.
    std::vector<std::size_t> list_phases() {
        std::map<std::string_view, std::size_t> known;
        std::vector<std::size_t> places;
        for (std::string const& label : program_.labels) {
            auto const [place, added] = known.try_emplace(phase_of(label), known.size());
            places.push_back(place->second);
            if (added) {
                simulation_.phases.push_back({std::string(place->first), never, 0});
            }
        }
        return places;
    }

    void add(PathPiece::Kind kind, Rank rank, TaskId task, Picoseconds begin, Picoseconds end) {
        if (end > begin) {
            simulation_.path.push_back({kind, rank, task, begin, end});
        }
    }

    /// Backwards from the end of `task`.
    void follow(TaskId task) {
        Rank rank = program_.rank_of(task);
        bool whole = true;  // not only its start is on the path
        while (true) {
            if (whole && waits_for_receive(tasks_[task])) {
                rank = program_.representative_of(tasks_[task].peer);
                task = tasks_[task].match;
            }
            Task const& is = tasks_[task];
            if (whole) {
                add_work(task, rank);
            }
            if (is.cause == ~0U) {
                return;
            }
            TaskId const before = task_of(is.cause);
            switch (cause_of(is.cause)) {
            case Cause::dependency:
                // A start that was waited for is on the path, the work behind it is not.
                whole = end_of(before, rank) <= is.time;
                break;
            case Cause::cpu:
                if (waits_for_receive(tasks_[before])) {
                    add_work(before, rank);
                    whole = false;
                } else {
                    whole = true;
                }
                break;
            case Cause::nic:
                add_nic(before, rank, is.time);
                whole = false;
                break;
            case Cause::message:
                rank = program_.representative_of(is.peer);
                add_time_in_flight(before, rank, is.time);
                add_work(before, rank);
                whole = false;
                break;
            }
            task = before;
        }
    }

    void add_work(TaskId task, Rank rank) {
        Task const& is = tasks_[task];
        Picoseconds const end = cpu_end(task, rank);
        bool const sends = is.kind == TaskKind::send;
        bool const receives = is.kind == TaskKind::recv;
        (sends || receives ? simulation_.split.overhead : simulation_.split.compute) += end - is.time;
        add(sends      ? PathPiece::Kind::sending
            : receives ? PathPiece::Kind::receiving
                       : PathPiece::Kind::work,
            rank, task, is.time, end);
    }
    void add_nic(TaskId task, Rank rank, Picoseconds until) {
        Task const& is = tasks_[task];
        Picoseconds const busy =
            flows(is, rank) ? 0 : time_of_further_bytes(is.amount, parameters(is, rank).gap_per_byte);
        Picoseconds const bytes = std::min(until - is.time, busy);
        simulation_.split.bandwidth += bytes;
        simulation_.split.overhead += until - is.time - bytes;
        add(PathPiece::Kind::waiting_for_nic, rank, task, is.time, until);
    }
    /// `rank` sent it; its last byte arrived at `until`.
    void add_time_in_flight(TaskId task, Rank rank, Picoseconds until) {
        Task const& is = tasks_[task];
        LogGopsParameters const costs = parameters(is, rank);
        Picoseconds const begin = cpu_end(task, rank);
        Picoseconds const more = flows(is, rank) ? network_->extra_latency(rank, is.peer) : 0;
        Picoseconds const latency = std::min(until - begin, costs.latency + more);
        Picoseconds const bytes =
            std::min(until - begin - latency, time_of_further_bytes(is.amount, costs.gap_per_byte));
        simulation_.split.latency += latency;
        simulation_.split.bandwidth += bytes;
        simulation_.split.contention += until - begin - latency - bytes;
        add(PathPiece::Kind::in_flight, program_.representative_of(is.peer), task, begin, until);
    }

    Simulation& simulation_;
    Program const& program_;
    std::vector<Task> const& tasks_;
    Machine const& machine_;
    LinkNetwork const* network_;
};

}  // namespace

std::string_view name_of(PathPiece::Kind kind) {
    constexpr std::array<std::string_view, 5> names{"work", "send", "way", "receive", "nic"};
    return names.at(static_cast<std::size_t>(kind));
}

void analyse(Simulation& simulation, Machine const& machine, LinkNetwork const* network) {
    Program const& program = simulation.program;
    simulation.messages =
        program.messages * static_cast<std::uint64_t>(program.world) / static_cast<std::uint64_t>(program.ranks());
    Analysis(simulation, machine, network).run();
}

}  // namespace dlmb::predict
