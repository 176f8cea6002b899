// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Schedules in the text form of GOAL (LogGOPSim, ATLAHS): sends, receives and computations of each rank. Grammar:
// txt2bin.re of LogGOPSim. It is read as strictly as that reads it, where being lax would hide a fault.
#include "common/trace/formats/formats.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace dlmb::trace {
namespace {

class GoalReader : public Reader {
public:
    explicit GoalReader(Builder& builder) : builder_(builder) {}

    void read(Input& input) override {
        std::string_view line;
        int ranks = 0;
        Rank next = 0;
        bool inside = false;
        RankProgram program;
        labels_.clear();
        while (input.line(line)) {
            auto const cells = words(line, " \t");
            if (cells.empty() || cells[0].starts_with("//") || cells[0].starts_with('#') ||
                cells[0].starts_with("/*")) {
                continue;
            }
            if (ranks == 0) {
                ranks = number_of_ranks(input, cells);
            } else if (!inside) {
                begin_rank(input, cells, next, ranks);
                program = {{next}, {}};
                labels_.clear();
                inside = true;
            } else if (cells[0] == "}") {
                builder_.add(input.name(), std::move(program));
                ++next;
                inside = false;
            } else {
                statement(input, cells, ranks, program);
            }
        }
        if (inside || next != ranks || ranks == 0) {
            input.refuse(fmt::format("it ends {}, after {} of {} ranks", inside ? "inside of a rank" : "too early",
                                     next, ranks));
        }
        builder_.world_of(ranks);
    }

private:
    using Words = std::vector<std::string_view>;

    static int number_of_ranks(Input const& input, Words const& cells) {
        auto const ranks = cells.size() == 2 && cells[0] == "num_ranks" ? parse_whole<int>(cells[1]) : std::nullopt;
        if (!ranks || *ranks < 1 || *ranks > most_ranks) {
            input.refuse(fmt::format("the first line must be num_ranks N, with N from 1 to {}", most_ranks));
        }
        return *ranks;
    }
    static void begin_rank(Input const& input, Words const& cells, Rank next, int ranks) {
        bool const is_rank = cells.size() == 3 && cells[0] == "rank" && cells[2] == "{";
        if (!is_rank || parse_whole<Rank>(cells[1]) != next || next >= ranks) {
            input.refuse(next < ranks ? fmt::format("'rank {} {{' belongs here: ranks stand in order", next)
                                      : fmt::format("only {} ranks belong here", ranks));
        }
    }

    void statement(Input const& input, Words cells, int ranks, RankProgram& program) {
        if (cells.size() == 3 && (cells[1] == "requires" || cells[1] == "irequires")) {
            for (std::string_view const label : {cells[0], cells[2]}) {
                if (!labels_.contains(std::string(label))) {
                    input.refuse(fmt::format("label '{}' is not defined in front", label));
                }
            }
            return;
        }
        if (cells[0].ends_with(':')) {
            std::string const label(cells[0].substr(0, cells[0].size() - 1));
            if (!labels_.insert(label).second) {
                input.refuse(fmt::format("label '{}' is there twice; GOAL takes the first in silence", label));
            }
            cells.erase(cells.begin());
        }
        if (cells.size() >= 2 && cells[0] == "calc") {
            if (!parse_whole<std::uint64_t>(cells[1])) {
                input.refuse(fmt::format("calc '{}' must be a whole number", cells[1]));
            }
            builder_.leave_out("computation");
            return;
        }
        constexpr std::size_t least = 4;  // send 10b to 1
        bool const sends = !cells.empty() && cells[0] == "send";
        bool const receives = !cells.empty() && cells[0] == "recv";
        bool const complete = cells.size() >= least && cells[1].ends_with('b') && cells[2] == (sends ? "to" : "from");
        if ((!sends && !receives) || !complete) {
            input.refuse("a statement is 'send 8b to 1', 'recv 8b from 0', 'calc 100' or 'a requires b'");
        }
        auto const bytes = parse_whole<Bytes>(cells[1].substr(0, cells[1].size() - 1));
        auto const peer = parse_whole<int>(cells[3]);
        bool const anybody = receives && peer == -1;
        if (!bytes || *bytes >> 63U != 0) {
            input.refuse(fmt::format("'{}' must be bytes from 0 to 2^63 - 1, as 8b", cells[1]));
        }
        if (!peer || *peer >= ranks || (*peer < 0 && !anybody)) {
            input.refuse(fmt::format("'{}' is no rank below {}", cells[3], ranks));
        }
        TraceOperation operation;
        operation.kind = sends ? OperationKind::send : OperationKind::recv;
        operation.dtype = builder_.assumptions().dtype.value_or(Dtype{});
        operation.group = builder_.group({"", ranks, {}, 0});
        (sends ? operation.sent : operation.received) = *bytes;
        if (!anybody) {
            operation.peer = *peer;
        }
        options(input, cells, operation);
        program.operations.push_back(std::move(operation));
    }

    /// tag, cpu and nic, in this order.
    static void options(Input const& input, Words const& cells, TraceOperation& operation) {
        std::size_t place = 4;
        for (std::string_view const name : {"tag", "cpu", "nic"}) {
            if (place < cells.size() && cells[place] == name) {
                auto const value =
                    place + 1 < cells.size() ? parse_whole<std::int64_t>(cells[place + 1]) : std::nullopt;
                constexpr std::int64_t most_units = 255;
                if (!value || (name != "tag" && (*value < 0 || *value > most_units))) {
                    input.refuse(fmt::format("a number must stand behind {}; cpu and nic are at most 255", name));
                }
                if (name == "tag") {
                    operation.tag = *value;
                }
                place += 2;
            }
        }
        if (place != cells.size()) {
            input.refuse(fmt::format("'{}' does not belong there; the order is tag, cpu, nic", cells[place]));
        }
    }

    Builder& builder_;
    std::set<std::string> labels_;
};

bool suits(std::string_view /*name*/, std::string_view head) {
    std::size_t const first = head.find("num_ranks");
    return first != std::string_view::npos && (first == 0 || head[first - 1] == '\n') &&
           (first == 0 || first_character(head) == '/' || first_character(head) == '#' || first_character(head) == 'n');
}

}  // namespace

Format goal_format() {
    return {"goal", "schedules of GOAL (text)", suits,
            [](Builder& builder) -> std::unique_ptr<Reader> { return std::make_unique<GoalReader>(builder); }};
}

}  // namespace dlmb::trace
