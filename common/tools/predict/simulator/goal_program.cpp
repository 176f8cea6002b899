// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/base/error.hpp"
#include "common/formats/plan/goal_reader.hpp"
#include "common/tools/predict/simulator/program.hpp"

#include <fmt/core.h>

#include <limits>

namespace dlmb::predict {
namespace {

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
