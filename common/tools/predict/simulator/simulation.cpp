// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/tools/predict/simulator/simulation.hpp"

#include "common/base/error.hpp"
#include "common/tools/predict/simulator/event_queue.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <deque>
#include <utility>

namespace dlmb::predict {
namespace {

constexpr Picoseconds longest_simulation = Picoseconds{1} << 62U;  // 53 days
constexpr Picoseconds longest_task = Picoseconds{1} << 58U;
constexpr std::int64_t most_femtoseconds = std::int64_t{1} << 62U;  // 76 minutes

enum class EventKind : std::uint8_t { run, nic, arrive, flow, flows_end };

/// `id`: a task, on `rank`; of an arrival the send, and the rank that it arrives at; of `nic` the number of a NIC.
class EventInfo {
public:
    EventInfo(EventKind kind, TaskId id, std::uint32_t rank)
        : id_(id), coded_((static_cast<std::uint32_t>(kind) << rank_bits) | rank) {}
    [[nodiscard]] TaskId id() const { return id_; }
    [[nodiscard]] EventKind kind() const { return static_cast<EventKind>(coded_ >> rank_bits); }
    [[nodiscard]] std::uint32_t rank() const { return coded_ & ((1U << rank_bits) - 1); }

private:
    static constexpr std::uint32_t rank_bits = 28;
    TaskId id_;
    std::uint32_t coded_;
};

struct Cpu {
    Picoseconds free = 0;
    TaskId last = no_task;
};

struct Nic {
    Picoseconds tx = 0;
    Picoseconds rx = 0;
    TaskId last = no_task;          // that sent
    TaskId first_queued = no_task;  // sends that wait for tx
    TaskId last_queued = no_task;
};

/// Messages that are not known to belong together before they arrive.
struct Queue {
    struct Arrived {
        TaskId send;
        Picoseconds last_byte;
    };
    std::deque<Arrived> arrived;
    std::deque<TaskId> posted;  // receives
};

class Simulator {
public:
    Simulator(Program& program, Machine const& machine, LinkNetwork* network)
        : program_(program), tasks_(program.tasks), machine_(machine), network_(network),
          cpus_(static_cast<std::size_t>(program.ranks()) * static_cast<std::size_t>(program.cpus)),
          busy_(static_cast<std::size_t>(program.ranks())),
          nics_(static_cast<std::size_t>(program.ranks()) * static_cast<std::size_t>(program.nics)),
          queues_(program.queues), left_(program.task_count()),
          starts_are_waited_for_(std::any_of(program.edges.begin(), program.edges.end(),
                                             [](Edge const& edge) { return edge.at_start(); })) {}

    void run() {
        for (std::uint32_t rank = 0; rank + 1 < program_.first_task.size(); ++rank) {
            begin_rank(rank);
        }
        while (!events_.empty()) {
            auto const event = events_.pop();
            now_ = event.time;
            ++count_;
            switch (event.what.kind()) {
            case EventKind::run:
                run_task(event.what.id(), event.what.rank(), event.time);
                break;
            case EventKind::nic:
                wake(event.what.id(), event.time);
                break;
            case EventKind::arrive:
                arrive(event.what.id(), event.what.rank(), event.time);
                break;
            case EventKind::flow:
                start_flow(event.what.id(), event.what.rank(), event.time);
                break;
            case EventKind::flows_end:
                end_flows(event.time);
                break;
            }
            run_what_is_due();
        }
        if (left_ > 0) {
            complain();
        }
    }

    [[nodiscard]] std::uint64_t events() const { return count_; }
    [[nodiscard]] Picoseconds busy(std::size_t rank) const { return busy_[rank]; }

private:
    /// Those that wait for nothing; the others follow from them.
    void begin_rank(std::uint32_t rank) {
        for (TaskId task = program_.first_task[rank]; task < program_.first_task[rank + 1]; ++task) {
            if (tasks_[task].waits == 0) {
                become_ready(task, rank);
            }
        }
        run_what_is_due();
    }

    static void check(Picoseconds time) {
        if (time > longest_simulation) {
            throw UsageError("the simulated time is above 53 days");
        }
    }
    void push(Picoseconds time, EventKind kind, TaskId id, std::uint32_t rank) {
        check(time);
        events_.push(time, {kind, id, rank});
    }

    /// All that the task waits for is over at tasks_[task].time, which may be yet to come.
    void become_ready(TaskId task, std::uint32_t rank) {
        if (takes_no_time(tasks_[task].kind)) {
            joins_.push_back({task, rank});
        } else if (tasks_[task].time <= now_) {
            due_.push_back({task, rank});
        } else {
            push(tasks_[task].time, EventKind::run, task, rank);
        }
    }

    [[nodiscard]] bool takes_no_time(TaskKind kind) const {
        switch (kind) {
        case TaskKind::join:
            return true;
        case TaskKind::call:
            return machine_.call == 0;
        case TaskKind::reduce:
            return machine_.reduce_per_byte == 0;
        case TaskKind::copy:
            return machine_.copy_per_byte == 0;
        default:
            return false;
        }
    }

    /// What became ready for the present, without a way through the queue of events: the first one first.
    void run_what_is_due() {
        finish_joins();
        for (std::size_t next = 0; next < due_.size(); ++next) {  // NOLINT(modernize-loop-convert): the list grows
            ++count_;
            run_task(due_[next].id, due_[next].rank, now_);
            finish_joins();
        }
        due_.clear();
    }
    void finish_joins() {
        while (!joins_.empty()) {
            auto const [task, rank] = joins_.back();
            joins_.pop_back();
            Picoseconds const time = tasks_[task].time;
            start(task, rank, time);
            end(task, rank, time);
        }
    }

    /// One of those that the task waits for is over at `time`.
    void satisfy(TaskId task, std::uint32_t rank, Picoseconds time, std::uint32_t cause) {
        Task& is = tasks_[task];
        if (time >= is.time) {
            is.time = time;
            is.cause = cause;
        }
        if (--is.waits == 0) {
            become_ready(task, rank);
        }
    }
    void release(TaskId task, std::uint32_t rank, Picoseconds time, bool of_start) {
        std::uint32_t const behind = tasks_[task + 1].edges;
        for (std::uint32_t edge = tasks_[task].edges; edge < behind; ++edge) {
            Edge const waits = program_.edges[edge];
            if (waits.at_start() == of_start) {
                satisfy(waits.to(), rank, time, caused(Cause::dependency, task));
            }
        }
    }
    void start(TaskId task, std::uint32_t rank, Picoseconds time) {
        tasks_[task].time = time;
        if (starts_are_waited_for_) {
            release(task, rank, time, true);
        }
    }
    void end(TaskId task, std::uint32_t rank, Picoseconds time) {
        --left_;
        release(task, rank, time, false);
    }

    /// Takes the processor from `time` on, or when it is free. Returns the start.
    Picoseconds occupy(TaskId task, std::uint32_t rank, Picoseconds time, Picoseconds busy) {
        Task& is = tasks_[task];
        Cpu& cpu = cpus_[rank * static_cast<std::size_t>(program_.cpus) + is.cpu];
        if (cpu.free > time) {
            time = cpu.free;
            is.cause = caused(Cause::cpu, cpu.last);
        }
        cpu.free = time + busy;
        check(cpu.free);
        busy_[rank] += busy;
        check(busy_[rank]);  // a rank may have several processors
        cpu.last = task;
        return time;
    }

    void run_task(TaskId task, std::uint32_t rank, Picoseconds now) {
        Task const& is = tasks_[task];
        switch (is.kind) {
        case TaskKind::send:
            queue_send(task, rank, now);
            break;
        case TaskKind::recv: {
            Picoseconds const overhead = parameters(is, rank).overhead;
            Picoseconds const begin = occupy(task, rank, now, overhead);
            start(task, rank, begin);
            if (is.amount > machine_.eager_limit) {
                end(is.match, place_of(is.peer), begin + overhead);
            }
            end(task, rank, begin + overhead);
            break;
        }
        case TaskKind::post:
            post(task, rank, now);
            break;
        default: {
            Picoseconds const takes = duration(is, machine_);
            Picoseconds const begin = occupy(task, rank, now, takes);
            start(task, rank, begin);
            end(task, rank, begin + takes);
            break;
        }
        }
    }

    [[nodiscard]] LogGopsParameters parameters(Task const& task, std::uint32_t rank) const {
        return machine_.parameters(static_cast<Rank>(rank), task.peer, task.amount);
    }
    [[nodiscard]] Nic& nic_of(Task const& task, std::uint32_t rank) { return nics_[nic_number(task, rank)]; }
    [[nodiscard]] std::size_t nic_number(Task const& task, std::uint32_t rank) const {
        return static_cast<std::size_t>(rank) * static_cast<std::size_t>(program_.nics) + task.nic;
    }
    /// Where the tasks of a rank of the world are.
    [[nodiscard]] std::uint32_t place_of(Rank rank) const {
        return static_cast<std::uint32_t>(program_.representative_of(rank));
    }
    [[nodiscard]] bool by_network(Rank from, Rank to) const { return is_flow(machine_, network_, from, to); }

    void queue_send(TaskId task, std::uint32_t rank, Picoseconds now) {
        Nic& nic = nic_of(tasks_[task], rank);
        if (nic.first_queued == no_task && nic.tx <= now) {
            start_send(task, rank, now, nic);
            return;
        }
        if (nic.first_queued == no_task) {
            nic.first_queued = task;
            push(nic.tx, EventKind::nic, static_cast<TaskId>(nic_number(tasks_[task], rank)), 0);
        } else {
            tasks_[nic.last_queued].waits = task;
        }
        tasks_[task].waits = no_task;
        nic.last_queued = task;
    }

    /// The NIC is free for the first send that waits for it.
    void wake(std::uint32_t number, Picoseconds now) {
        Nic& nic = nics_[number];
        TaskId const task = nic.first_queued;
        nic.first_queued = std::exchange(tasks_[task].waits, 0);
        tasks_[task].cause = caused(Cause::nic, nic.last);
        start_send(task, number / static_cast<std::uint32_t>(program_.nics), now, nic);
        if (nic.first_queued != no_task) {
            push(nic.tx, EventKind::nic, number, 0);
        }
    }

    void start_send(TaskId task, std::uint32_t rank, Picoseconds now, Nic& nic) {
        Task const& is = tasks_[task];
        LogGopsParameters const costs = parameters(is, rank);
        Picoseconds const busy = costs.overhead + time_of_further_bytes(is.amount, costs.overhead_per_byte);
        Picoseconds const begin = occupy(task, rank, now, busy);
        bool const flows = by_network(static_cast<Rank>(rank), is.peer);
        nic.tx = begin + costs.gap + (flows ? 0 : time_of_further_bytes(is.amount, costs.gap_per_byte));
        nic.last = task;
        if (flows) {
            push(begin + busy, EventKind::flow, task, rank);
        } else {
            push(begin + busy + costs.latency, EventKind::arrive, task, place_of(is.peer));
        }
        start(task, rank, begin);
        if (is.amount <= machine_.eager_limit) {
            end(task, rank, begin + busy);
        }
    }

    /// The first byte, or of a flow the last one.
    void arrive(TaskId send, std::uint32_t rank, Picoseconds now) {
        Task const& sent = tasks_[send];
        Rank const from = sent.queued ? program_.rank_of(send) : tasks_[sent.match].peer;
        LogGopsParameters const costs = machine_.parameters(from, static_cast<Rank>(rank), sent.amount);
        Picoseconds const bytes =
            by_network(from, static_cast<Rank>(rank)) ? 0 : time_of_further_bytes(sent.amount, costs.gap_per_byte);
        // The receiver's NIC has the number of the sender's: GOAL names none for what arrives.
        Nic& nic = nic_of(sent, rank);
        Picoseconds const begin = std::max(now, nic.rx);
        nic.rx = begin + costs.gap + bytes;
        if (!sent.queued) {
            satisfy(sent.match, rank, begin + bytes, caused(Cause::message, send));
            return;
        }
        Queue& queue = queues_[sent.match];
        if (queue.posted.empty()) {
            queue.arrived.push_back({send, begin + bytes});
        } else {
            meet(send, queue.posted.front(), rank, begin + bytes);
            queue.posted.pop_front();
        }
    }

    void post(TaskId task, std::uint32_t rank, Picoseconds now) {
        Queue& queue = queues_[tasks_[task].match];
        TaskId const receive = task + 1;
        start(task, rank, now);
        if (queue.arrived.empty()) {
            queue.posted.push_back(receive);
        } else {
            meet(queue.arrived.front().send, receive, rank, queue.arrived.front().last_byte);
            queue.arrived.pop_front();
        }
        end(task, rank, now);
    }

    void meet(TaskId send, TaskId receive, std::uint32_t rank, Picoseconds last_byte) {
        if (tasks_[send].amount != tasks_[receive].amount) {
            throw UsageError(
                fmt::format("{} meets {}: the sizes differ", program_.describe(send), program_.describe(receive)));
        }
        tasks_[send].match = receive;
        tasks_[receive].match = send;
        satisfy(receive, rank, last_byte, caused(Cause::message, send));
    }

    void start_flow(TaskId send, std::uint32_t rank, Picoseconds now) {
        auto flow = static_cast<FlowId>(flows_.size());
        if (free_flows_.empty()) {
            flows_.emplace_back();
        } else {
            flow = free_flows_.back();
            free_flows_.pop_back();
        }
        flows_[flow] = {send, static_cast<Rank>(rank)};
        network_->start(flow, static_cast<Rank>(rank), tasks_[send].peer, std::max<Bytes>(tasks_[send].amount, 1), now);
        // Flows that start at one time are all known before the network is asked.
        expect_flow(now);
    }
    void expect_flow(Picoseconds time) {
        if (time < next_flow_) {
            next_flow_ = time;
            push(time, EventKind::flows_end, 0, 0);
        }
    }
    void end_flows(Picoseconds now) {
        if (next_flow_ <= now) {
            next_flow_ = never;
        }
        while (auto const flow = network_->end_next(now)) {
            free_flows_.push_back(*flow);
            auto const [send, from] = flows_[*flow];
            Task const& sent = tasks_[send];
            Picoseconds const latency =
                machine_.parameters(from, sent.peer, sent.amount).latency + network_->extra_latency(from, sent.peer);
            push(now + latency, EventKind::arrive, send, place_of(sent.peer));
        }
        if (Picoseconds const next = network_->next_event(); next != never) {
            expect_flow(next);
        }
    }

    /// Every message has two ends, so that what is left over waits for a circle of tasks.
    [[noreturn]] void complain() const {
        for (TaskId task = 0; task < program_.task_count(); ++task) {
            if (tasks_[task].waits > 0) {
                throw UsageError(fmt::format("{} never starts: tasks wait for each other", program_.describe(task)));
            }
        }
        throw Error("simulation: tasks are left over that wait for nothing");
    }

    struct Ready {
        TaskId id;
        std::uint32_t rank;
    };
    struct Flow {
        TaskId send;
        Rank from;
    };

    Program& program_;
    std::vector<Task>& tasks_;
    Machine const& machine_;
    LinkNetwork* network_;
    std::vector<Cpu> cpus_;
    std::vector<Picoseconds> busy_;  // by rank
    std::vector<Nic> nics_;
    std::vector<Queue> queues_;
    std::size_t left_;
    bool starts_are_waited_for_;
    EventQueue<EventInfo> events_;
    std::uint64_t count_ = 0;
    Picoseconds now_ = 0;
    std::vector<Ready> joins_;
    std::vector<Ready> due_;
    std::vector<Flow> flows_;
    std::vector<FlowId> free_flows_;
    Picoseconds next_flow_ = never;
};

/// No single task can be so long that times overflow.
void check_durations(Program const& program, Machine const& machine) {
    FemtosecondsPerByte slowest = std::max(machine.reduce_per_byte, machine.copy_per_byte);
    for (auto const& level : machine.levels) {
        for (SizeSegment const& segment : level) {
            slowest = std::max({slowest, segment.parameters.gap_per_byte, segment.parameters.overhead_per_byte});
        }
    }
    double const farthest =
        machine.octaves.empty() ? 0 : *std::max_element(machine.octaves.begin(), machine.octaves.end());
    slowest += std::llround(farthest * static_cast<double>(machine.octave_per_byte));
    auto const most_bytes = static_cast<std::uint64_t>(most_femtoseconds / (slowest + 1));
    for (TaskId task = 0; task < program.task_count(); ++task) {
        Task const& is = program.tasks[task];
        std::uint64_t const most = is.kind == TaskKind::calc ? static_cast<std::uint64_t>(longest_task) : most_bytes;
        if (is.amount > most) {
            throw UsageError(fmt::format("{} is too long to be simulated", program.describe(task)));
        }
    }
}

}  // namespace

Simulation simulate(Program program, Machine const& machine, LinkNetwork* network) {
    check_durations(program, machine);
    if (network != nullptr && program.ranks() < program.world) {
        throw Error("simulation: ranks that stand for others cannot share the links of a network");
    }
    Simulation simulation;
    simulation.program = std::move(program);
    Simulator simulator(simulation.program, machine, network);
    simulator.run();
    simulation.events = simulator.events();
    for (Rank rank = 0; rank < simulation.program.world; ++rank) {
        simulation.busy.push_back(simulator.busy(static_cast<std::size_t>(simulation.program.representative_of(rank))));
    }
    analyse(simulation, machine, network);
    return simulation;
}

}  // namespace dlmb::predict
