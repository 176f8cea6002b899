// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/formats/plan/goal_reader.hpp"

#include "common/base/error.hpp"

#include <fmt/format.h>

namespace dlmb::goal {
namespace {

constexpr std::string_view blanks = " \t\r";

}  // namespace

ParsedLine StatementReader::read(std::string_view line) {
    LineWords const words = dlmb::words(behind_comments(line), blanks);
    if (words.empty() || words[0].starts_with("//") || words[0].starts_with('#')) {
        return {};
    }
    if (ranks_ == 0) {
        return world(words);
    }
    if (!inside_) {
        begin_rank(words);
        return RankBegins{};
    }
    if (words[0] == "}") {
        ++next_;
        inside_ = false;
        return RankEnds{};
    }
    return statement(words);
}

std::string_view StatementReader::behind_comments(std::string_view line) {
    while (true) {
        if (in_comment_) {
            std::size_t const end = line.find("*/");
            in_comment_ = end == std::string_view::npos;
            line.remove_prefix(in_comment_ ? line.size() : end + 2);
        }
        line.remove_prefix(std::min(line.find_first_not_of(blanks), line.size()));
        if (!line.starts_with("/*")) {
            return line;
        }
        in_comment_ = true;
        line.remove_prefix(2);
    }
}

std::string StatementReader::missing() const {
    if (inside_ || next_ != ranks_ || ranks_ == 0) {
        return fmt::format("it ends {}, after {} of {} ranks", inside_ ? "inside of a rank" : "too early", next_,
                           ranks_);
    }
    return {};
}

RankCount StatementReader::world(LineWords const& words) {
    auto const ranks = words.size() == 2 && words[0] == "num_ranks" ? parse_whole<int>(words[1]) : std::nullopt;
    if (!ranks || *ranks < 1 || *ranks > most_ranks_) {
        throw UsageError(fmt::format("the first line must be num_ranks N, with N from 1 to {}", most_ranks_));
    }
    ranks_ = *ranks;
    return {ranks_};
}

void StatementReader::begin_rank(LineWords const& words) {
    bool const is_rank = words.size() == 3 && words[0] == "rank" && words[2] == "{";
    if (!is_rank || parse_whole<Rank>(words[1]) != next_ || next_ >= ranks_) {
        throw UsageError(next_ < ranks_ ? fmt::format("'rank {} {{' belongs here: ranks stand in order", next_)
                                        : fmt::format("only {} ranks belong here", ranks_));
    }
    inside_ = true;
    statements_ = 0;
    labels_.clear();
}

std::uint32_t StatementReader::labelled(std::string_view label) const {
    auto const found = labels_.find(label);
    if (found == labels_.end()) {
        throw UsageError(fmt::format("label '{}' is not defined in front", label));
    }
    return found->second;
}

ParsedLine StatementReader::statement(LineWords words) {
    if (words.size() == 3 && (words[1] == "requires" || words[1] == "irequires")) {
        std::uint32_t const task = labelled(words[0]);
        return Requires{task, labelled(words[2]), words[1] == "irequires"};
    }
    Statement statement;
    if (words[0].ends_with(':')) {
        statement.label = words[0].substr(0, words[0].size() - 1);
        if (!labels_.emplace(statement.label, statements_).second) {
            throw UsageError(
                fmt::format("label '{}' is there twice; GOAL takes the first in silence", statement.label));
        }
        words.erase(words.begin());
    }
    if (words.size() >= 2 && words[0] == "calc") {
        auto const time = parse_whole<std::uint64_t>(words[1]);
        if (!time) {
            throw UsageError(fmt::format("calc '{}' must be a whole number", words[1]));
        }
        statement.amount = *time;
        if (words.size() == 4 && words[2] == "cpu") {
            auto const cpu = parse_whole<std::uint8_t>(words[3]);
            if (!cpu) {
                throw UsageError("a number must stand behind cpu; it is at most 255");
            }
            statement.cpu = *cpu;
        } else if (words.size() != 2) {
            throw UsageError(fmt::format("'{}' does not belong behind a calc; only cpu does", words[2]));
        }
    } else {
        message(words, statement);
    }
    ++statements_;
    return statement;
}

void StatementReader::message(LineWords const& words, Statement& statement) const {
    constexpr std::size_t least = 4;  // send 10b to 1
    bool const sends = !words.empty() && words[0] == "send";
    bool const receives = !words.empty() && words[0] == "recv";
    bool const complete = words.size() >= least && words[1].ends_with('b') && words[2] == (sends ? "to" : "from");
    if ((!sends && !receives) || !complete) {
        throw UsageError("a statement is 'send 8b to 1', 'recv 8b from 0', 'calc 100' or 'a requires b'");
    }
    auto const bytes = parse_whole<Bytes>(words[1].substr(0, words[1].size() - 1));
    auto const peer = parse_whole<int>(words[3]);
    bool const anybody = receives && peer == -1;
    if (!bytes || *bytes >> 63U != 0) {
        throw UsageError(fmt::format("'{}' must be bytes from 0 to 2^63 - 1, as 8b", words[1]));
    }
    if (!peer || *peer >= ranks_ || (*peer < 0 && !anybody)) {
        throw UsageError(fmt::format("'{}' is no rank below {}", words[3], ranks_));
    }
    statement.verb = sends ? StatementKind::send : StatementKind::recv;
    statement.amount = *bytes;
    if (!anybody) {
        statement.peer = *peer;
    }
    options(words, statement);
}

/// tag, cpu and nic, in this order.
void StatementReader::options(LineWords const& words, Statement& statement) {
    std::size_t place = 4;
    for (std::string_view const name : {"tag", "cpu", "nic"}) {
        if (place < words.size() && words[place] == name) {
            auto const value = place + 1 < words.size() ? parse_whole<std::int64_t>(words[place + 1]) : std::nullopt;
            constexpr std::int64_t most_units = 255;
            if (!value || (name != "tag" && (*value < 0 || *value > most_units))) {
                throw UsageError(fmt::format("a number must stand behind {}; cpu and nic are at most 255", name));
            }
            if (name == "tag") {
                statement.tag = value;
            } else {
                (name == "cpu" ? statement.cpu : statement.nic) = static_cast<int>(*value);
            }
            place += 2;
        }
    }
    if (place != words.size()) {
        throw UsageError(fmt::format("'{}' does not belong there; the order is tag, cpu, nic", words[place]));
    }
}

}  // namespace dlmb::goal
