// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/tools/predict/simulator/program.hpp"

#include "common/base/error.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <numeric>

namespace dlmb::predict {
namespace {

bool is_message(Task const& task) {
    return task.kind == TaskKind::send || task.kind == TaskKind::recv;
}

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
    if (program_.first_task.size() == 1) {
        expect_more_of_the_same();
    }
}

/// Memory for ranks like the first one, which is not touched before it is needed. A vector that grows holds all twice.
void ProgramBuilder::expect_more_of_the_same() {
    constexpr std::size_t eighths = 9;
    auto const expected = [this](std::size_t of_one) {
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
    std::size_t send = 0;
    for (std::size_t receive = 0; receive < receives.size();) {
        auto const together = [&](std::vector<End> const& ends, std::size_t at) {
            std::size_t end = at;
            while (end < ends.size() && !before(ends[at], ends[end])) {
                ++end;
            }
            return end - at;
        };
        if (send == sends.size() || before(receives[receive], sends[send])) {
            refuse(receives[receive]);
        }
        if (before(sends[send], receives[receive])) {
            refuse(sends[send]);
        }
        std::size_t const count = together(receives, receive);
        std::size_t const sent = together(sends, send);
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
    if (send < sends.size()) {
        refuse(sends[send]);
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

}  // namespace dlmb::predict
