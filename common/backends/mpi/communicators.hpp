// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// One communicator per group of ranks, made once and reused by every plan of the backend.
#pragma once

#include "common/bootstrap/mpi/communicator.hpp"
#include "common/formats/plan/group_index.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

namespace dlmb::mpi {

/// What MPI keeps the order of: the messages of a Send or a Recv. `peer`: world rank of the other side.
struct MessageStream {
    Rank peer = 0;
    int channel = 0;
    bool outgoing = false;
    auto
    operator<=>(MessageStream const&) const = default;  // NOLINT(modernize-use-nullptr): false alarm of clang-tidy 14
};

/// nullopt: the operation is no message.
[[nodiscard]] inline std::optional<MessageStream> stream_of(Plan const& plan, Operation const& operation) {
    if (auto const* send = std::get_if<Send>(&operation)) {
        return MessageStream{world_rank(plan, send->group, send->to.peer), send->channel, true};
    }
    if (auto const* recv = std::get_if<Recv>(&operation)) {
        return MessageStream{world_rank(plan, recv->group, recv->from.peer), recv->channel, false};
    }
    return std::nullopt;
}

class GroupCommunicators {
public:
    /// Collective over MPI_COMM_WORLD. `info`: of every communicator of a group.
    explicit GroupCommunicators(InfoKey info = {}) : world_(duplicate(MPI_COMM_WORLD)), info_(std::move(info)) {}

    [[nodiscard]] MPI_Comm world() const { return world_.get(); }
    [[nodiscard]] MPI_Comm of(Group const& group) const { return groups_.at(group.members).get(); }

    /// The communicator of two ranks of the world, the lower one first.
    [[nodiscard]] MPI_Comm of_pair(Rank a, Rank b) const { return groups_.at({std::min(a, b), std::max(a, b)}).get(); }

    /// Collective: makes what the collective steps of `plan` need. All members of a group have the group in their
    /// plans. `pairs`: sends and receives have a communicator, too.
    void prepare(Plan const& plan, bool pairs = false) {
        // Sorted by members: two ranks that share several new groups make them in the same order, so neither waits
        // for ever.
        std::set<std::vector<Rank>> needed;
        for (Step const& step : plan.steps) {
            if (auto const group = collective_group(step.operation)) {
                needed.insert(plan.groups.at(*group).members);
            } else if (auto const stream = stream_of(plan, step.operation);
                       pairs && stream && stream->peer != plan.me) {
                needed.insert({std::min(plan.me, stream->peer), std::max(plan.me, stream->peer)});
            }
        }
        for (std::vector<Rank> const& members : needed) {
            if (!groups_.contains(members)) {
                Communicator group = create_group(world_.get(), members);
                groups_.emplace(members, info_.key.empty() ? std::move(group) : duplicate(group.get(), info_));
            }
        }
    }

private:
    Communicator world_;
    InfoKey info_;
    std::map<std::vector<Rank>, Communicator> groups_;
};

}  // namespace dlmb::mpi
