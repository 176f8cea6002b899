// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/tools/predict/simulator/program.hpp"

#include "common/base/error.hpp"
#include "common/formats/plan/goal_reader.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <limits>
#include <numeric>

namespace dlmb::predict {
namespace {

bool is_message(Task const& task) {
    return task.kind == TaskKind::send || task.kind == TaskKind::recv;
}

constexpr int most_goal_ranks = 1 << 20;
constexpr std::uint64_t goal_picoseconds = 1000;  // of a nanosecond

class GoalProgram {
public:
    explicit GoalProgram(int ranks) : builder_(ProgramBuilder::Matching::first_in_first_out, ranks, ranks) {}

    void add(goal::ParsedLine const& line) {
        if (std::holds_alternative<goal::RankBegins>(line)) {
            builder_.begin_rank();
            tasks_.clear();
        } else if (auto const* statement = std::get_if<goal::Statement>(&line)) {
            add(*statement);
        } else if (auto const* wait = std::get_if<goal::Requires>(&line)) {
            Ends const& earlier = tasks_[wait->earlier];
            // A receive has started when it is posted, and its post has no start of its own.
            bool const posted = wait->only_start && earlier.first != earlier.last;
            builder_.require(tasks_[wait->task].first, posted ? earlier.first : earlier.last,
                             wait->only_start && !posted);
        }
    }
    [[nodiscard]] Program finish() && { return std::move(builder_).finish(); }

private:
    /// The tasks of a statement: a receive is its post and itself.
    struct Ends {
        TaskId first;
        TaskId last;
    };

    void add(goal::Statement const& statement) {
        builder_.begin_step(statement.label.empty() ? fmt::format("statement {}", tasks_.size() + 1) : statement.label);
        Task task{.amount = statement.amount,
                  .cpu = static_cast<std::uint8_t>(statement.cpu),
                  .nic = static_cast<std::uint8_t>(statement.nic)};
        if (statement.verb == goal::StatementKind::calc) {
            if (statement.amount > std::numeric_limits<std::uint64_t>::max() / goal_picoseconds) {
                throw UsageError(fmt::format("calc {} is too long to be simulated", statement.amount));
            }
            task.kind = TaskKind::calc;
            task.amount *= goal_picoseconds;
            tasks_.push_back({builder_.next(), builder_.next()});
            builder_.add(task);
            return;
        }
        if (!statement.peer) {
            throw UsageError("a receive from anybody cannot be simulated");
        }
        std::int64_t const tag = statement.tag.value_or(0);
        if (tag < 0 || tag >= std::numeric_limits<std::uint32_t>::max()) {
            throw UsageError(fmt::format("tag {} is a wildcard or beyond 32 bits, and cannot be simulated", tag));
        }
        task.peer = *statement.peer;
        task.kind = statement.verb == goal::StatementKind::send ? TaskKind::send : TaskKind::recv;
        TaskId const first = builder_.next();
        if (task.kind == TaskKind::recv) {
            builder_.add({.kind = TaskKind::post});
            builder_.require(first + 1, first);
        }
        tasks_.push_back({first, builder_.add(task, static_cast<std::uint32_t>(tag))});
    }

    ProgramBuilder builder_;
    std::vector<Ends> tasks_;  // by statement of the present rank
};

}  // namespace

Rank Program::rank_of(TaskId task) const {
    return static_cast<Rank>(std::upper_bound(first_task.begin(), first_task.end(), task) - first_task.begin()) - 1;
}

std::string const& Program::label_of(Rank rank, TaskId task) const {
    auto const begin = steps.begin() + first_step[static_cast<std::size_t>(rank)];
    auto const end = steps.begin() + first_step[static_cast<std::size_t>(rank) + 1];
    auto const behind =
        std::upper_bound(begin, end, task, [](TaskId id, StepTasks const& step) { return id < step.first; });
    return labels[std::prev(behind)->label];
}

std::string Program::describe(TaskId task) const {
    Rank const rank = rank_of(task);
    Task const& is = tasks[task];
    std::string what = "local work";
    if (is_message(is)) {
        bool const sends = is.kind == TaskKind::send;
        what =
            fmt::format("{} of {} B {} rank {}", sends ? "send" : "receive", is.amount, sends ? "to" : "from", is.peer);
    }
    return fmt::format("rank {}, \"{}\": {}", rank, label_of(rank, task), what);
}

void ProgramBuilder::begin_rank() {
    end_rank();
    program_.first_task.push_back(next());
    program_.first_step.push_back(static_cast<std::uint32_t>(program_.steps.size()));
}

void ProgramBuilder::begin_step(std::string_view label) {
    auto found = labels_.find(label);
    if (found == labels_.end()) {
        found = labels_.emplace(label, static_cast<std::uint32_t>(program_.labels.size())).first;
        program_.labels.emplace_back(label);
    }
    program_.steps.push_back({next(), found->second});
}

TaskId ProgramBuilder::add(Task const& task, std::uint32_t tag) {
    if (next() >= no_task) {
        throw UsageError(fmt::format("a simulation has at most {} sends, receives and computations", no_task));
    }
    program_.tasks.push_back(task);
    program_.cpus = std::max(program_.cpus, task.cpu + 1);
    program_.nics = std::max(program_.nics, task.nic + 1);
    if (is_message(task)) {
        tags_.push_back(tag);
        program_.messages += task.kind == TaskKind::send ? 1U : 0U;
    }
    return next() - 1;
}

void ProgramBuilder::end_rank() {
    if (program_.first_task.empty()) {
        return;
    }
    std::vector<Task>& tasks = program_.tasks;
    TaskId const first = program_.first_task.back();
    if (program_.edges.size() + waits_.size() > std::numeric_limits<std::uint32_t>::max()) {
        throw UsageError("a simulation has at most 2^32 dependencies");
    }
    for (Wait const& wait : waits_) {
        ++tasks[wait.earlier].edges;
        ++tasks[wait.task].waits;
    }
    auto end = static_cast<std::uint32_t>(program_.edges.size());
    std::vector<std::uint32_t> place;
    place.reserve(next() - first);
    for (TaskId task = first; task < next(); ++task) {
        place.push_back(end);
        end += std::exchange(tasks[task].edges, end);
    }
    program_.edges.resize(end);
    for (Wait const& wait : waits_) {
        program_.edges[place[wait.earlier - first]++] = {wait.task, wait.at_start};
    }
    waits_.clear();
    if (program_.first_task.size() == std::max<std::size_t>(static_cast<std::size_t>(written_) / 16, 2)) {
        expect_more_of_the_same();
    }
}

/// Memory for ranks like the smallest of the first ones, which is not touched before it is needed: roots and servers
/// among them have tasks for each of the others. A vector that grows holds all twice.
void ProgramBuilder::expect_more_of_the_same() {
    constexpr std::size_t eighths = 9;
    std::size_t smallest = next() - program_.first_task.back();
    for (std::size_t rank = 1; rank < program_.first_task.size(); ++rank) {
        smallest = std::min<std::size_t>(smallest, program_.first_task[rank] - program_.first_task[rank - 1]);
    }
    std::size_t const all = std::max<std::size_t>(next(), 1);
    auto const expected = [&](std::size_t of_all) {
        std::size_t const of_one = of_all * smallest / all;
        return std::min<std::size_t>(of_one * static_cast<std::size_t>(written_) / 8 * eighths + 64, most_tasks);
    };
    program_.tasks.reserve(expected(program_.tasks.size()));
    program_.edges.reserve(expected(program_.edges.size()));
    tags_.reserve(expected(tags_.size()));
}

Program ProgramBuilder::finish() && {
    begin_rank();  // the end of the last one, and the end of all
    Task last;
    last.edges = static_cast<std::uint32_t>(program_.edges.size());
    program_.tasks.push_back(last);
    match_messages();
    return std::move(program_);
}

void ProgramBuilder::match_messages() {
    // Sends by the rank they go to; they are in the order of the ranks they come from.
    auto const ranks = static_cast<std::size_t>(program_.ranks());
    std::vector<std::size_t> first(ranks + 1, 0);
    for (Task const& task : program_.tasks) {
        if (task.kind == TaskKind::send) {
            ++first[static_cast<std::size_t>(program_.representative_of(task.peer)) + 1];
        }
    }
    std::partial_sum(first.begin(), first.end(), first.begin());
    struct Sent {
        TaskId task;
        std::uint32_t tag;
    };
    std::vector<Sent> sent(first.back());
    std::vector<std::size_t> place(first.begin(), first.end() - 1);
    std::size_t message = 0;
    for (TaskId task = 0; task < program_.task_count(); ++task) {
        Task const& is = program_.tasks[task];
        if (is.kind == TaskKind::send) {
            sent[place[static_cast<std::size_t>(program_.representative_of(is.peer))]++] = {task, tags_[message]};
        }
        message += is_message(is) ? 1U : 0U;
    }
    bool const few = program_.ranks() < program_.world;
    auto const ahead = [this](Rank from, Rank to) { return (to - from + program_.world) % program_.world; };
    message = 0;
    std::vector<End> sends;
    std::vector<End> receives;
    for (std::size_t rank = 0; rank < ranks; ++rank) {
        sends.clear();
        receives.clear();
        Rank from = 0;
        for (std::size_t each = first[rank]; each < first[rank + 1]; ++each) {
            while (program_.first_task[static_cast<std::size_t>(from) + 1] <= sent[each].task) {
                ++from;
            }
            TaskId const task = sent[each].task;
            sends.push_back({few ? ahead(from, program_.tasks[task].peer) : from, sent[each].tag, task});
        }
        for (TaskId task = program_.first_task[rank]; task < program_.first_task[rank + 1]; ++task) {
            Task const& is = program_.tasks[task];
            if (is.kind == TaskKind::recv) {
                receives.push_back({few ? ahead(is.peer, static_cast<Rank>(rank)) : is.peer, tags_[message], task});
            }
            message += is_message(is) ? 1U : 0U;
        }
        match_rank(sends, receives);
    }
    tags_ = {};
}

void ProgramBuilder::match_rank(std::vector<End>& sends, std::vector<End>& receives) {
    auto const before = [](End const& left, End const& right) {
        return left.from != right.from ? left.from < right.from : left.tag < right.tag;
    };
    for (std::vector<End>* const ends : {&sends, &receives}) {
        if (!std::is_sorted(ends->begin(), ends->end(), before)) {
            std::stable_sort(ends->begin(), ends->end(), before);
        }
    }
    auto const refuse = [this](End const& end) {
        throw UsageError(fmt::format("{} with tag {} has no other end", program_.describe(end.task), end.tag));
    };
    for (std::size_t send = 0, receive = 0; send < sends.size() || receive < receives.size();) {
        bool const has_send =
            receive == receives.size() || (send < sends.size() && before(sends[send], receives[receive]));
        End const& next = has_send ? sends[send] : receives[receive];
        auto const alike = [&](std::vector<End> const& ends, std::size_t at) {
            std::size_t end = at;
            while (end < ends.size() && !before(next, ends[end])) {
                ++end;
            }
            return end - at;
        };
        std::size_t const sent = alike(sends, send);
        std::size_t const count = alike(receives, receive);
        if (count != sent) {
            refuse(count < sent ? sends[send + count] : receives[receive + sent]);
        }
        if (count > 1 && matching_ == Matching::first_in_first_out) {
            share_queue({&sends[send], count}, {&receives[receive], count});
        } else {
            for (std::size_t each = 0; each < count; ++each) {
                match(sends[send + each], receives[receive + each]);
            }
        }
        send += count;
        receive += count;
    }
}

void ProgramBuilder::match(End const& send, End const& receive) {
    Task& sent = program_.tasks[send.task];
    Task& received = program_.tasks[receive.task];
    if (sent.amount != received.amount) {
        throw UsageError(fmt::format("{} meets {}: the sizes differ", program_.describe(send.task),
                                     program_.describe(receive.task)));
    }
    sent.match = receive.task;
    received.match = send.task;
    ++received.waits;
    if (matching_ == Matching::first_in_first_out) {
        program_.tasks[receive.task - 1].kind = TaskKind::join;
    }
}

void ProgramBuilder::share_queue(std::span<End const> sends, std::span<End const> receives) {
    for (End const& send : sends) {
        program_.tasks[send.task].match = program_.queues;
        program_.tasks[send.task].queued = true;
    }
    for (End const& receive : receives) {
        program_.tasks[receive.task - 1].match = program_.queues;
        program_.tasks[receive.task].queued = true;
        ++program_.tasks[receive.task].waits;
    }
    ++program_.queues;
}

Program read_goal(std::string_view text, std::string_view name) {
    goal::StatementReader lines(most_goal_ranks);
    std::optional<GoalProgram> program;
    std::size_t number = 0;
    for (std::string_view const line : split(text, "\n")) {
        ++number;
        try {
            goal::ParsedLine const is = lines.read(line);
            if (auto const* world = std::get_if<goal::RankCount>(&is)) {
                program.emplace(world->ranks);
            } else if (program) {
                program->add(is);
            }
        } catch (UsageError const& error) {
            throw UsageError(fmt::format("{}, line {}: {}", name, number, error.what()));
        }
    }
    try {
        if (std::string const missing = lines.missing(); !missing.empty()) {
            throw UsageError(missing);
        }
        return std::move(*program).finish();
    } catch (UsageError const& error) {
        throw UsageError(fmt::format("{}: {}", name, error.what()));
    }
}

}  // namespace dlmb::predict
