// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/tools/plan/iterations.hpp"

#include "common/base/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <numeric>
#include <tuple>
#include <utility>

namespace dlmb::trace {
namespace {

/// Comparisons that the search may need: below a second.
constexpr std::size_t most_comparisons = 400'000'000;

/// A number for each kind of call.
class CallKeys {
public:
    explicit CallKeys(bool with_sizes) : with_sizes_(with_sizes) {}

    std::vector<std::uint32_t> of(RankProgram const& program) {
        std::vector<std::uint32_t> keys;
        for (TraceOperation const& each : program.operations) {
            RepetitionKey key{each.kind,
                              each.group,
                              each.dtype.name,
                              each.peer,
                              each.root,
                              each.repeat,
                              with_sizes_ ? std::pair(each.sent, each.received) : std::pair<Bytes, Bytes>()};
            keys.push_back(numbers_.emplace(std::move(key), static_cast<std::uint32_t>(numbers_.size())).first->second);
        }
        return keys;
    }

private:
    using RepetitionKey = std::tuple<OperationKind, TraceGroupId, std::string, std::optional<int>, std::optional<int>,
                                     std::uint64_t, std::pair<Bytes, Bytes>>;
    bool with_sizes_;
    std::map<RepetitionKey, std::uint32_t> numbers_;
};

/// Where the most is covered by at least two times a sequence; of several the shortest sequence.
Repetition::Part longest_repetition(std::vector<std::uint32_t> const& keys, std::size_t comparisons) {
    Repetition::Part best;
    std::size_t covered = 0;
    std::size_t const longest = std::min(keys.size() / 2, comparisons / std::max<std::size_t>(keys.size(), 1));
    for (std::size_t length = 1; length <= longest; ++length) {
        std::size_t run = 0;
        for (std::size_t place = 0; place + length < keys.size(); ++place) {
            run = keys[place] == keys[place + length] ? run + 1 : 0;
            std::size_t const whole = run < length ? 0 : (run / length + 1) * length;
            if (whole > covered) {
                covered = whole;
                best = {place + 1 - run, length};
            }
        }
    }
    return 2 * covered < keys.size() ? Repetition::Part() : best;
}

int times_of(std::vector<std::uint32_t> const& keys, Repetition::Part const& part) {
    std::size_t end = part.first + part.length;
    while (part.length > 0 && end < keys.size() && keys[end] == keys[end - part.length]) {
        ++end;
    }
    return part.length == 0 ? 0 : static_cast<int>((end - part.first) / part.length);
}

/// Ranks cut alike when all members of a group have as many of its collectives before and in each part, and senders as
/// many messages as receivers.
bool cut_alike(Trace const& trace, std::vector<Repetition::Part> const& parts) {
    std::map<std::vector<Rank>, std::pair<std::size_t, std::size_t>> counts;
    for (std::size_t index = 0; index < parts.size(); ++index) {
        RankProgram const& program = trace.programs[index];
        Rank const rank = program.ranks.front();
        std::map<std::pair<bool, std::vector<Rank>>, std::pair<std::size_t, std::size_t>> mine;
        for (std::size_t place = 0; place < parts[index].first + parts[index].length; ++place) {
            TraceOperation const& each = program.operations[place];
            bool const sends = each.kind == OperationKind::send;
            std::vector<Rank> key;
            if (!is_message(each.kind)) {
                key = trace.groups.at(each.group).members_around(rank);
            } else if (Rank const peer = each.peer.value_or(-1) + (each.peer_is_offset ? rank : 0); sends) {
                key = {-1, rank, peer};
            } else {
                key = {-1, peer, rank};
            }
            auto& [before, in_part] = mine[{sends, std::move(key)}];
            ++(place < parts[index].first ? before : in_part);
        }
        for (auto const& [key, count] : mine) {
            auto const [other, added] = counts.emplace(key.second, count);
            if (!added && other->second != count) {
                return false;
            }
        }
    }
    return true;
}

/// Gives what follows operation `first` to `times` iterations of `length`.
void give_to_iterations(RankProgram& program, Repetition::Part const& part, int times) {
    for (std::size_t place = 0; place < program.operations.size(); ++place) {
        std::size_t const iteration = place < part.first ? 0 : (place - part.first) / part.length;
        bool const inside = place >= part.first && iteration < static_cast<std::size_t>(times);
        program.operations[place].iteration = inside ? std::optional(static_cast<int>(iteration)) : std::nullopt;
    }
    program.iterations_us.clear();
}

/// The end of a program, cut in so many parts that are alike in kinds, groups and peers.
Repetition::Part assumed_part(RankProgram const& program, int iterations) {
    auto const& operations = program.operations;
    auto const times = static_cast<std::size_t>(iterations);
    std::size_t const length = operations.size() / times;
    if (length == 0) {
        throw UsageError(fmt::format("--assume iterations={}: rank {} has {} operations", iterations,
                                     program.ranks.front(), operations.size()));
    }
    std::size_t const first = operations.size() - length * times;
    for (std::size_t place = first + length; place < operations.size(); ++place) {
        TraceOperation const& operation = operations[place];
        TraceOperation const& before = operations[place - length];
        if (std::tie(operation.kind, operation.group, operation.peer) !=
            std::tie(before.kind, before.group, before.peer)) {
            throw UsageError(fmt::format(
                "--assume iterations={}: rank {} does not repeat its last {} operations so often: number {} is {}, "
                "number {} is {}",
                iterations, program.ranks.front(), length * times, place, name_of(operation.kind), place - length,
                name_of(before.kind)));
        }
    }
    return {first, length};
}

int marked_iterations(RankProgram const& program) {
    int count = static_cast<int>(program.iterations_us.size());
    for (TraceOperation const& operation : program.operations) {
        count = std::max(count, operation.iteration.value_or(-1) + 1);
    }
    return count;
}

}  // namespace

Repetition find_repetition(Trace const& trace) {
    for (bool const with_sizes : {true, false}) {
        CallKeys all(with_sizes);
        Repetition found;
        std::vector<int> times;  // of each program
        for (RankProgram const& program : trace.programs) {
            auto const keys = all.of(program);
            found.parts.push_back(longest_repetition(keys, most_comparisons / trace.programs.size()));
            times.push_back(times_of(keys, found.parts.back()));
            // Calls of one kind with different sizes are no iterations of one call.
            bool const one_call = !with_sizes && found.parts.back().length == 1;
            if (times.back() == 0 || one_call) {
                found.times = 0;
                break;
            }
            // An iteration may repeat on one rank what others do once in it.
            found.times = std::gcd(found.times, times.back());
        }
        if (found.times < 2) {
            continue;
        }
        std::size_t outside = 0;
        for (std::size_t index = 0; index < times.size(); ++index) {
            found.parts[index].length *= static_cast<std::size_t>(times[index] / found.times);
            outside += trace.programs[index].operations.size() -
                       found.parts[index].length * static_cast<std::size_t>(found.times);
        }
        if (cut_alike(trace, found.parts)) {
            found.text = fmt::format(
                "{} repetitions of {} operations ({}, {}), {} outside of them", found.times, found.parts.front().length,
                trace.programs.size() > 1 ? fmt::format("rank {}", trace.programs.front().ranks.front()) : "each rank",
                with_sizes ? "of the same sizes" : "sizes differ", outside);
            return found;
        }
    }
    return {0, "no sequence of operations that all ranks repeat", {}};
}

Iterations find_iterations(Trace& trace, std::optional<int> assumed) {
    Iterations result;
    for (RankProgram& program : trace.programs) {
        if (assumed) {
            give_to_iterations(program, assumed_part(program, *assumed), *assumed);
        }
        int const mine = marked_iterations(program);
        if (&program != &trace.programs.front() && mine != result.count) {
            throw UsageError(fmt::format("rank {} has {} iterations, rank {} has {}; record the same on all ranks",
                                         program.ranks.front(), mine, trace.programs.front().ranks.front(),
                                         result.count));
        }
        result.count = mine;
    }
    if (result.count == 0) {
        Repetition repetition = find_repetition(trace);
        result = {repetition.times, std::move(repetition.text)};
        for (std::size_t index = 0; result.count > 0 && index < trace.programs.size(); ++index) {
            give_to_iterations(trace.programs[index], repetition.parts[index], result.count);
        }
    }
    return result;
}

}  // namespace dlmb::trace
