// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Programs of the simulator: sends, receives and local work of all ranks, and what each waits for. They are what GOAL
// can say (Hoefler, Siebert, Lumsdaine: Group Operation Assembly Language, 2009). Plans are lowered to them
// (lower.hpp), GOAL text is read into them (read_goal).
#pragma once

#include "common/formats/plan/plan.hpp"
#include "common/tools/predict/picoseconds.hpp"

#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace dlmb::predict {

using TaskId = std::uint32_t;  // over all ranks; those of a rank are consecutive
inline constexpr TaskId most_tasks = TaskId{1} << 30U;
inline constexpr TaskId no_task = most_tasks - 1;

enum class TaskKind : std::uint8_t {
    calc,    // so many ps of the processor
    call,    // the time of a call of the processor
    reduce,  // so many bytes
    copy,    // so many bytes
    join,    // takes no time and no processor
    post,    // of a receive whose message is found when both are there
    send,
    recv
};

/// The cause that a task waited for last: the end (or start) of another task, a processor, a NIC or a message.
enum class Cause : std::uint8_t { dependency, cpu, nic, message };

[[nodiscard]] constexpr std::uint32_t caused(Cause cause, TaskId task) {
    return (static_cast<std::uint32_t>(cause) << 30U) | task;
}
[[nodiscard]] constexpr Cause cause_of(std::uint32_t caused) {
    return static_cast<Cause>(caused >> 30U);
}
[[nodiscard]] constexpr TaskId task_of(std::uint32_t caused) {
    return caused & (most_tasks - 1);
}

/// One cache line holds more than one: simulations of 10^7 messages are bound by memory.
struct Task {
    std::uint64_t amount = 0;   // ps or bytes
    Picoseconds time = 0;       // simulation: when it can start at the earliest as far as is known; then when it did
    Rank peer = -1;             // of messages
    TaskId match = no_task;     // of messages: the other end; of a post and of messages in a queue: the queue
    std::uint32_t edges = 0;    // the first of those that wait for it
    std::uint32_t waits = 0;    // simulation: for so many; then the next send in the queue of the NIC
    std::uint32_t cause = ~0U;  // simulation: what it waited for last
    TaskKind kind = TaskKind::join;
    std::uint8_t cpu = 0;
    std::uint8_t nic = 0;
    bool queued = false;  // its message is found by (from, to, tag), first in first out
};

/// A task that waits for another one: for its end, or only for its start.
class Edge {
public:
    Edge() = default;
    Edge(TaskId to, bool at_start) : coded_(to | (at_start ? start_bit : 0)) {}
    [[nodiscard]] TaskId to() const { return coded_ & ~start_bit; }
    [[nodiscard]] bool at_start() const { return (coded_ & start_bit) != 0; }

private:
    static constexpr std::uint32_t start_bit = 1U << 31U;
    std::uint32_t coded_ = 0;
};

/// The tasks of one step of a plan, or one statement of GOAL.
struct StepTasks {
    TaskId first = 0;
    std::uint32_t label = 0;
};

struct Program {
    std::vector<TaskId> first_task;         // by rank, and the end
    std::vector<Task> tasks;                // and one more, whose `edges` is the end
    std::vector<Edge> edges;                // by the task that is waited for
    std::vector<std::uint32_t> first_step;  // by rank, and the end
    std::vector<StepTasks> steps;           // by rank, in the order of their tasks
    std::vector<std::string> labels;
    std::uint32_t queues = 0;  // of messages that are found when they arrive
    int cpus = 1;              // of each rank
    int nics = 1;
    std::uint64_t messages = 0;
    int world = 0;  // ranks; where they are more than those with tasks, rank r does as r mod ranks() does

    /// That have tasks of their own.
    [[nodiscard]] int ranks() const { return static_cast<int>(first_task.size()) - 1; }
    [[nodiscard]] Rank representative_of(Rank rank) const { return rank < ranks() ? rank : rank % ranks(); }
    [[nodiscard]] std::size_t task_count() const { return tasks.size() - 1; }
    [[nodiscard]] Rank rank_of(TaskId task) const;
    [[nodiscard]] std::string const& label_of(Rank rank, TaskId task) const;
    /// "rank 3, step "dispatch": send of 8 B to rank 1"
    [[nodiscard]] std::string describe(TaskId task) const;
};

/// Writes a Program rank by rank, from 0, which is all of them or those that stand for all.
class ProgramBuilder {
public:
    /// in_order: the k-th send from a to b with a tag and the k-th receive are one message. first_in_first_out: so are
    /// the send that arrives first and the receive that is posted first; the task in front of each receive is its post.
    enum class Matching : std::uint8_t { in_order, first_in_first_out };

    /// `world`: ranks. `written`: of which so many are written and stand for all.
    ProgramBuilder(Matching matching, int world, int written) : matching_(matching), written_(written) {
        program_.world = world;
    }

    void begin_rank();
    void begin_step(std::string_view label);
    /// `tag` of messages; the task waits for what require() says.
    TaskId add(Task const& task, std::uint32_t tag = 0);
    void require(TaskId task, TaskId earlier, bool at_start = false) { waits_.push_back({earlier, task, at_start}); }
    [[nodiscard]] TaskId next() const { return static_cast<TaskId>(program_.tasks.size()); }

    /// Throws UsageError that names the rank and the label of a message without an other end, or whose ends differ in
    /// size.
    [[nodiscard]] Program finish() &&;

private:
    struct Wait {
        TaskId earlier;
        TaskId task;
        bool at_start;
    };
    /// An end of a message at the rank that receives it.
    struct End {
        Rank from;  // how far ahead in the world the receiver is, where few ranks stand for all
        std::uint32_t tag;
        TaskId task;
    };

    void end_rank();
    void expect_more_of_the_same();
    void match_messages();
    void match_rank(std::vector<End>& sends, std::vector<End>& receives);
    void match(End const& send, End const& receive);
    void share_queue(std::span<End const> sends, std::span<End const> receives);

    Matching matching_;
    int written_;
    Program program_;
    std::vector<Wait> waits_;          // of the present rank
    std::vector<std::uint32_t> tags_;  // by message in the order of tasks
    std::map<std::string, std::uint32_t, std::less<>> labels_;
};

/// GOAL text as a program: calc in ns, messages by (source, tag), first in first out. Throws UsageError "NAME, line N:
/// what is wrong", also for receives from anybody and tags that are none from 0 to 2^32 - 1.
[[nodiscard]] Program read_goal(std::string_view text, std::string_view name);

}  // namespace dlmb::predict
