// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/trace/plans.hpp"

#include "common/base/error.hpp"
#include "common/plan/builder.hpp"
#include "common/trace/plan_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <limits>
#include <map>
#include <memory>
#include <tuple>
#include <utility>

namespace dlmb::trace {
namespace {

/// The phase that a name of the trace tells, and the layer: "forward.layer3". Names themselves stay out of plans.
std::string phase_named(std::string_view label) {
    std::string text(label);
    std::transform(text.begin(), text.end(), text.begin(),
                   [](unsigned char letter) { return static_cast<char>(std::tolower(letter)); });
    struct Word {
        std::string_view word;
        std::string_view phase;
    };
    constexpr std::array words{Word{"forward", "forward"}, Word{"fwd", "forward"}, Word{"backward", "backward"},
                               Word{"bwd", "backward"}, Word{"optimizer", "optimizer"}};
    std::string_view phase;
    std::size_t last = 0;
    for (Word const& each : words) {
        std::size_t const place = text.rfind(each.word);
        if (place != std::string::npos && (phase.empty() || place > last)) {
            phase = each.phase;
            last = place;
        }
    }
    if (phase.empty()) {
        return "";
    }
    std::string result(phase);
    constexpr std::string_view layer = "layer";
    std::size_t digits = text.rfind(layer);
    if (digits != std::string::npos) {
        digits = text.find_first_not_of("s_.-[ ", digits + layer.size());
        std::size_t const end = digits == std::string::npos ? digits : text.find_first_not_of("0123456789", digits);
        std::string const number = digits == std::string::npos ? "" : text.substr(digits, end - digits);
        constexpr std::size_t most_digits = 6;
        result += number.empty() || number.size() > most_digits ? "" : ".layer" + number;
    }
    return result;
}

/// StepLabels of steps. Those of a collective are the same on all ranks: what the first of them says.
class StepLabels {
public:
    /// How many collectives of each group a rank had so far.
    using Counts = std::map<std::vector<Rank>, std::size_t>;

    explicit StepLabels(Trace const& trace) : trace_(trace) {
        for (RankProgram const& program : trace.programs) {
            Counts counts;
            for (TraceOperation const& operation : program.operations) {
                if (program.ranks.size() == 1 && !is_message(operation)) {
                    auto members = members_of(operation, program.ranks.front());
                    std::size_t const number = counts[members]++;
                    if (std::string phase = phase_named(operation.label); !phase.empty()) {
                        phases_.emplace(std::pair(std::move(members), number), std::move(phase));
                    }
                }
            }
        }
    }

    [[nodiscard]] std::string next(TraceOperation const& operation, Rank rank, RankProgram const& program,
                                   Counts& counts) const {
        std::string phase;
        if (is_message(operation) || program.ranks.size() > 1) {
            phase = phase_named(operation.label);
        } else if (!phases_.empty()) {
            auto members = members_of(operation, rank);
            std::size_t const number = counts[members]++;
            auto const found = phases_.find(std::pair(std::move(members), number));
            phase = found == phases_.end() ? "" : found->second;
        }
        return phase.empty() ? std::string(name_of(operation.kind))
                             : fmt::format("{}.{}", phase, name_of(operation.kind));
    }

private:
    static bool is_message(TraceOperation const& operation) {
        return operation.kind == OperationKind::send || operation.kind == OperationKind::recv;
    }
    [[nodiscard]] std::vector<Rank> members_of(TraceOperation const& operation, Rank rank) const {
        return trace_.groups.at(operation.group).members_around(rank);
    }

    Trace const& trace_;
    std::map<std::pair<std::vector<Rank>, std::size_t>, std::string> phases_;
};

/// For how long a rank does not communicate.
class Pauses {
public:
    Pauses(RankProgram const& program, std::optional<int> iteration) : program_(program) {
        if (iteration && static_cast<std::size_t>(*iteration) < program.iterations_us.size()) {
            std::tie(busy_until_us_, end_us_) = program.iterations_us[static_cast<std::size_t>(*iteration)];
        }
    }

    /// What the trace says of computations, or the time from the end of all that was before to the start.
    [[nodiscard]] Nanoseconds before(TraceOperation const& operation) {
        ++operations_;
        if (program_.computed_after_us) {
            return in_ns(operation.computed_us);
        }
        if (!operation.start_us || !operation.duration_us) {
            return 0;
        }
        double const pause_us = busy_until_us_ ? *operation.start_us - *busy_until_us_ : 0;
        busy_until_us_ = std::max(busy_until_us_.value_or(0), *operation.start_us + *operation.duration_us);
        timed_ = true;
        return in_ns(pause_us);
    }
    [[nodiscard]] Nanoseconds behind_last() const {
        if (program_.computed_after_us) {
            return operations_ == program_.operations.size() ? in_ns(*program_.computed_after_us) : 0;
        }
        return timed_ && end_us_ ? in_ns(*end_us_ - *busy_until_us_) : 0;
    }

private:
    /// Beyond an hour a time is no computation, but a fault of a clock.
    static Nanoseconds in_ns(double us) {
        constexpr double longest_us = 3.6e9;
        return std::isfinite(us) && us > 0 && us < longest_us ? std::llround(us * nanoseconds_per_microsecond) : 0;
    }

    RankProgram const& program_;
    std::optional<double> busy_until_us_;
    std::optional<double> end_us_;
    std::size_t operations_ = 0;
    bool timed_ = false;
};

class PlanMaker {
public:
    PlanMaker(Trace const& trace, StepLabels const& labels, RankProgram const& program, Rank rank,
              PlanRequest const& request)
        : trace_(trace), labels_(labels), program_(program), rank_(rank), request_(request),
          pauses_(program, request.iteration), plan_(rank) {}

    Plan make() && {
        // A trace of a model moves far more than fits in memory.
        plan_.share_buffers(true);
        for (TraceOperation const& operation : program_.operations) {
            label_ = labels_.next(operation, rank_, program_, counts_);
            if (request_.iteration && operation.iteration != request_.iteration) {
                continue;
            }
            compute(pauses_.before(operation));
            for (std::uint64_t call = 0; call < operation.repeat; ++call) {
                if (++steps_ > most_steps) {
                    throw UsageError(fmt::format("rank {} has more than {} calls", rank_, most_steps));
                }
                add(operation);
            }
        }
        compute(pauses_.behind_last());
        return std::move(plan_).finish();
    }

private:
    [[noreturn]] void refuse(TraceOperation const& operation, std::string_view why) const {
        throw UsageError(fmt::format("rank {}: step {} ({}): {}", rank_, steps_ - 1, name_of(operation.kind), why));
    }

    void compute(Nanoseconds time_ns) {
        if (time_ns <= 0) {
            return;
        }
        std::vector<StepId> after = last_;
        if (request_.computes_behind_receives) {
            after.insert(after.end(), received_.begin(), received_.end());
            received_.clear();
        }
        last_ = {plan_.compute(time_ns, "compute", std::move(after))};
    }

    void add(TraceOperation const& operation) {
        std::vector<Rank> members = trace_.groups.at(operation.group).members_around(rank_);
        bool const message = operation.kind == OperationKind::send || operation.kind == OperationKind::recv;
        if (message) {
            add_message(operation);
            return;
        }
        std::vector<StepId> after = std::exchange(in_flight_, {});
        // Messages in flight waited for what was last, unless a computation came behind them.
        for (StepId const before : last_) {
            if (after.empty() || before > after.back()) {
                after.push_back(before);
            }
        }
        received_.clear();
        Bytes const ranks = members.size();
        GroupId const group = plan_.group({std::move(members)});
        last_ = {add_collective(operation, group, ranks, label_, std::move(after))};
    }

    StepId add_collective(TraceOperation const& operation, GroupId group, Bytes ranks, std::string const& label,
                          std::vector<StepId> after) {
        switch (operation.kind) {
        case OperationKind::exchange:
            if (operation.send_split.size() != ranks || operation.recv_split.size() != ranks) {
                refuse(operation, "it does not say how much goes to which rank");
            }
            return plan_.exchange(group, operation.send_split, operation.recv_split, label, std::move(after));
        case OperationKind::all_reduce:
            return plan_.all_reduce(group, operation.sent, element(operation, true), Reduction::sum, label,
                                    std::move(after));
        case OperationKind::reduce:
            return plan_.reduce(group, root(operation), operation.sent, element(operation, true), Reduction::sum, label,
                                std::move(after));
        case OperationKind::reduce_scatter:
            require_equal_parts(operation, operation.sent, operation.received, ranks);
            return plan_.reduce_scatter(group, operation.sent, element(operation, true), Reduction::sum, label,
                                        std::move(after));
        case OperationKind::all_gather:
            require_equal_parts(operation, operation.received, operation.sent, ranks);
            return plan_.all_gather(group, operation.received, element(operation, false), label, std::move(after));
        case OperationKind::gather:
            return plan_.gather(group, root(operation), operation.sent * ranks, element(operation, false), label,
                                std::move(after));
        case OperationKind::scatter:
            return plan_.scatter(group, root(operation), operation.received * ranks, element(operation, false), label,
                                 std::move(after));
        case OperationKind::broadcast:
            return plan_.broadcast(group, root(operation), std::max(operation.sent, operation.received),
                                   element(operation, false), label, std::move(after));
        case OperationKind::barrier:
            return plan_.barrier(group, label, std::move(after));
        default:
            refuse(operation, "a plan of a trace does not have it");
        }
    }

    void add_message(TraceOperation const& operation) {
        if (!operation.peer) {
            refuse(operation, "it does not say which rank the peer is");
        }
        Rank const peer = operation.peer_is_offset ? rank_ + *operation.peer : *operation.peer;
        GroupId const everybody = plan_.group(all());
        // Messages of different tags may overtake each other, those of one may not.
        bool const is_channel = operation.tag >= 0 && operation.tag <= std::numeric_limits<int>::max();
        int const channel = is_channel ? static_cast<int>(operation.tag) : 0;
        if (operation.kind == OperationKind::send) {
            in_flight_.push_back(plan_.send(everybody, peer, operation.sent, channel, -1, label_, last_));
        } else {
            in_flight_.push_back(plan_.recv(everybody, peer, operation.received, channel, -1, label_, last_));
            received_.push_back(in_flight_.back());
        }
    }

    [[nodiscard]] Group all() const {
        Group group;
        for (Rank rank = 0; rank < trace_.ranks; ++rank) {
            group.members.push_back(rank);
        }
        return group;
    }

    [[nodiscard]] Rank root(TraceOperation const& operation) const {
        auto const root = operation.root ? operation.root : request_.assumptions.root;
        if (!root) {
            refuse(operation, "the trace does not say which rank is the root: give --assume root=N");
        }
        return *root;
    }

    /// A type that a plan does not have is moved as bytes, but cannot be reduced.
    [[nodiscard]] Element element(TraceOperation const& operation, bool reduces) const {
        auto const known = element_named(operation.dtype.name);
        if (!known && reduces) {
            refuse(operation, fmt::format("no backend reduces {}", operation.dtype.name));
        }
        return known.value_or(Element::byte);
    }

    void require_equal_parts(TraceOperation const& operation, Bytes whole, Bytes part, Bytes ranks) const {
        if (part * ranks != whole) {
            refuse(
                operation,
                fmt::format("{} bytes are not {} parts of {}: parts are not equal, and the trace has those of one rank",
                            whole, ranks, part));
        }
    }

    Trace const& trace_;
    StepLabels const& labels_;
    RankProgram const& program_;
    Rank rank_;
    PlanRequest const& request_;
    Pauses pauses_;
    StepLabels::Counts counts_;
    std::string label_;
    PlanBuilder plan_;
    std::uint64_t steps_ = 0;
    std::vector<StepId> last_;
    std::vector<StepId> in_flight_;
    std::vector<StepId> received_;  // of these, which no computation has waited for
};

/// Gives the operations to iterations that are alike in kinds, groups and peers; what is too much comes before them.
void repeat(RankProgram& program, int iterations) {
    auto& operations = program.operations;
    std::size_t const length = operations.size() / static_cast<std::size_t>(iterations);
    if (length == 0) {
        throw UsageError(fmt::format("--assume iterations={}: rank {} has {} operations", iterations,
                                     program.ranks.front(), operations.size()));
    }
    std::size_t const first = operations.size() - length * static_cast<std::size_t>(iterations);
    for (std::size_t place = first; place < operations.size(); ++place) {
        TraceOperation& operation = operations[place];
        std::size_t const iteration = (place - first) / length;
        operation.iteration = static_cast<int>(iteration);
        if (iteration == 0) {
            continue;
        }
        TraceOperation const& before = operations[place - length];
        if (std::tie(operation.kind, operation.group, operation.peer) !=
            std::tie(before.kind, before.group, before.peer)) {
            throw UsageError(fmt::format(
                "--assume iterations={}: rank {} does not repeat its last {} operations so often: number {} is {}, "
                "number {} is {}",
                iterations, program.ranks.front(), length * static_cast<std::size_t>(iterations), place,
                name_of(operation.kind), place - length, name_of(before.kind)));
        }
    }
    program.iterations_us.clear();
}

}  // namespace

int find_iterations(Trace& trace, std::optional<int> assumed) {
    int found = 0;
    for (RankProgram& program : trace.programs) {
        int mine = static_cast<int>(program.iterations_us.size());
        if (assumed) {
            mine = *assumed;
            repeat(program, mine);
        }
        if (&program != &trace.programs.front() && mine != found) {
            throw UsageError(fmt::format("rank {} has {} iterations, rank {} has {}; record the same on all ranks",
                                         program.ranks.front(), mine, trace.programs.front().ranks.front(), found));
        }
        found = mine;
    }
    return found;
}

PlanSource plans_of(Trace const& trace, PlanRequest const& request) {
    if (!trace.requests.empty()) {
        throw UsageError("the trace has requests and no communication; dlmb_trace summary shows them");
    }
    if (!trace.complete()) {
        throw UsageError(fmt::format("the trace is not complete: {}", trace.why_not.front()));
    }
    std::map<Rank, RankProgram const*> programs;
    for (RankProgram const& program : trace.programs) {
        for (Rank const rank : program.ranks) {
            programs.emplace(rank, &program);
        }
    }
    auto labels = std::make_shared<StepLabels const>(trace);
    return {static_cast<std::size_t>(trace.ranks),
            [&trace, programs = std::move(programs), labels, request](Rank rank) {
                return PlanMaker(trace, *labels, *programs.at(rank), rank, request).make();
            }};
}

}  // namespace dlmb::trace
