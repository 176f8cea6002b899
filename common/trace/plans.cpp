// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/trace/plans.hpp"

#include "common/base/error.hpp"
#include "common/plan/builder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <utility>

namespace dlmb::trace {
namespace {

constexpr std::uint64_t most_steps = 1'000'000;  // of one rank

class PlanMaker {
public:
    PlanMaker(Trace const& trace, RankProgram const& program, Rank rank, PlanAssumptions const& assumptions)
        : trace_(trace), program_(program), rank_(rank), assumptions_(assumptions), plan_(rank) {}

    Plan make() && {
        // A trace of a model moves far more than fits in memory.
        plan_.share_buffers(true);
        for (TraceOperation const& operation : program_.operations) {
            for (std::uint64_t call = 0; call < operation.repeat; ++call) {
                if (++steps_ > most_steps) {
                    throw UsageError(fmt::format("rank {} has more than {} calls", rank_, most_steps));
                }
                add(operation);
            }
        }
        return std::move(plan_).finish();
    }

private:
    [[noreturn]] void refuse(TraceOperation const& operation, std::string_view why) const {
        throw UsageError(fmt::format("rank {}: step {} ({}): {}", rank_, steps_ - 1, name_of(operation.kind), why));
    }

    void add(TraceOperation const& operation) {
        std::vector<Rank> members = trace_.groups.at(operation.group).members_around(rank_);
        bool const message = operation.kind == OperationKind::send || operation.kind == OperationKind::recv;
        if (message) {
            add_message(operation);
            return;
        }
        std::vector<StepId> after = in_flight_.empty() ? last_ : std::exchange(in_flight_, {});
        Bytes const ranks = members.size();
        GroupId const group = plan_.group({std::move(members)});
        std::string const label(name_of(operation.kind));
        last_ = {add_collective(operation, group, ranks, label, std::move(after))};
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
        std::string const label(name_of(operation.kind));
        in_flight_.push_back(operation.kind == OperationKind::send
                                 ? plan_.send(everybody, peer, operation.sent, channel, -1, label, last_)
                                 : plan_.recv(everybody, peer, operation.received, channel, -1, label, last_));
    }

    [[nodiscard]] Group all() const {
        Group group;
        for (Rank rank = 0; rank < trace_.ranks; ++rank) {
            group.members.push_back(rank);
        }
        return group;
    }

    [[nodiscard]] Rank root(TraceOperation const& operation) const {
        auto const root = operation.root ? operation.root : assumptions_.root;
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
    RankProgram const& program_;
    Rank rank_;
    PlanAssumptions assumptions_;
    PlanBuilder plan_;
    std::uint64_t steps_ = 0;
    std::vector<StepId> last_;
    std::vector<StepId> in_flight_;
};

}  // namespace

PlanSource plans_of(Trace const& trace, PlanAssumptions const& assumptions) {
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
    return {static_cast<std::size_t>(trace.ranks), [&trace, programs = std::move(programs), assumptions](Rank rank) {
                return PlanMaker(trace, *programs.at(rank), rank, assumptions).make();
            }};
}

}  // namespace dlmb::trace
