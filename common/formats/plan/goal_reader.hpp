// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Schedules in the text form of GOAL (LogGOPSim, ATLAHS), line by line. Grammar: txt2bin.re of LogGOPSim. It is read as
// strictly as that reads it, where being lax would hide a fault.
#pragma once

#include "common/base/units.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace dlmb::goal {

enum class StatementKind : std::uint8_t { send, recv, calc };

struct Statement {
    StatementKind verb = StatementKind::calc;
    std::string label;         // empty: none
    std::uint64_t amount = 0;  // bytes, or the time of a calc in the unit of the simulation: nanoseconds
    std::optional<Rank> peer;  // of messages; nothing: a receive from anybody
    std::optional<std::int64_t> tag;
    int cpu = 0;
    int nic = 0;
};
/// Numbers of statements of the present rank, from 0.
struct Requires {
    std::uint32_t task = 0;
    std::uint32_t earlier = 0;
    bool only_start = false;  // irequires
};
struct RankCount {
    int ranks = 0;
};
struct RankBegins {};
struct RankEnds {};
/// Blank lines and comments are std::monostate.
using ParsedLine = std::variant<std::monostate, RankCount, RankBegins, RankEnds, Statement, Requires>;

class StatementReader {
public:
    explicit StatementReader(int most_ranks) : most_ranks_(most_ranks) {}

    /// Throws UsageError, whose text names neither file nor line, for what GOAL does not allow there.
    [[nodiscard]] ParsedLine read(std::string_view line);
    /// Names what is missing behind the last line; empty: nothing.
    [[nodiscard]] std::string missing() const;

private:
    using LineWords = std::vector<std::string_view>;

    /// The line behind the comments in front of a statement. A comment may have begun lines before.
    std::string_view behind_comments(std::string_view line);
    RankCount world(LineWords const& words);
    void begin_rank(LineWords const& words);
    ParsedLine statement(LineWords words);
    void message(LineWords const& words, Statement& statement) const;
    static void options(LineWords const& words, Statement& statement);
    [[nodiscard]] std::uint32_t labelled(std::string_view label) const;

    int most_ranks_;
    int ranks_ = 0;  // 0: not known yet
    Rank next_ = 0;
    bool inside_ = false;
    bool in_comment_ = false;
    std::uint32_t statements_ = 0;  // of the present rank
    std::map<std::string, std::uint32_t, std::less<>> labels_;
};

}  // namespace dlmb::goal
