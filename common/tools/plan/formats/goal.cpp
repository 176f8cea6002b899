// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Schedules in the text form of GOAL: sends and receives of each rank. What waits for what is left out.
#include "common/base/error.hpp"
#include "common/formats/plan/goal_reader.hpp"
#include "common/tools/plan/formats/formats.hpp"

#include <utility>

namespace dlmb::trace {
namespace {

class GoalReader : public TraceReader {
public:
    using TraceReader::TraceReader;

    void read(Input& input) override {
        goal::StatementReader lines(most_recorded_ranks);
        RankProgram program;
        Rank next = 0;
        std::string_view line;
        while (input.line(line)) {
            goal::ParsedLine const is = read_line(lines, input, line);
            if (auto const* world = std::get_if<goal::RankCount>(&is)) {
                ranks_ = world->ranks;
            } else if (std::holds_alternative<goal::RankBegins>(is)) {
                program = {{next++}, {}};
            } else if (std::holds_alternative<goal::RankEnds>(is)) {
                builder_.add(input.name(), std::exchange(program, {}));
            } else if (auto const* statement = std::get_if<goal::Statement>(&is)) {
                add(*statement, program);
            }
        }
        if (std::string const missing = lines.missing(); !missing.empty()) {
            input.refuse(missing);
        }
        builder_.world_of(ranks_);
    }

private:
    static goal::ParsedLine read_line(goal::StatementReader& lines, Input const& input, std::string_view line) {
        try {
            return lines.read(line);
        } catch (UsageError const& error) {
            input.refuse(error.what());
        }
    }

    void add(goal::Statement const& statement, RankProgram& program) {
        if (statement.verb == goal::StatementKind::calc) {
            program.add_computation(static_cast<double>(statement.amount) / nanoseconds_per_microsecond);
            return;
        }
        bool const sends = statement.verb == goal::StatementKind::send;
        TraceOperation operation;
        operation.kind = sends ? OperationKind::send : OperationKind::recv;
        operation.dtype = builder_.assumed_dtype().value_or(Dtype{});
        operation.group = builder_.group({"", ranks_, {}, 0});
        (sends ? operation.sent : operation.received) = statement.amount;
        operation.tag = statement.tag.value_or(operation.tag);
        if (statement.peer) {
            operation.peer = *statement.peer;
        }
        program.add(std::move(operation));
    }

    int ranks_ = 0;
};

bool is_goal(std::string_view /*name*/, std::string_view head) {
    std::size_t const first = head.find("num_ranks");
    return first != std::string_view::npos && (first == 0 || head[first - 1] == '\n') &&
           (first == 0 || first_character(head) == '/' || first_character(head) == '#' || first_character(head) == 'n');
}

}  // namespace

TraceFormat goal_format() {
    return {"goal", "schedules of GOAL (text)", is_goal, make_reader<GoalReader>};
}

}  // namespace dlmb::trace
