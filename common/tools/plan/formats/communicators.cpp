// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/tools/plan/formats/communicators.hpp"

#include "common/base/error.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace dlmb::trace {

TraceOperation nccl_operation(Input const& input, std::string_view where, OperationKind kind, Dtype dtype, Bytes bytes,
                              Bytes ranks) {
    bool const exchanges = kind == OperationKind::exchange;
    bool const scatters = kind == OperationKind::reduce_scatter || kind == OperationKind::scatter || exchanges;
    bool const gathers = kind == OperationKind::all_gather || kind == OperationKind::gather || exchanges;
    TraceOperation operation;
    operation.kind = kind;
    operation.dtype = std::move(dtype);
    operation.sent = kind == OperationKind::recv ? 0 : product(input, where, bytes, scatters ? ranks : 1);
    operation.received = kind == OperationKind::send ? 0 : product(input, where, bytes, gathers ? ranks : 1);
    if (exchanges) {
        operation.send_split.each = operation.recv_split.each = bytes;
    }
    return operation;
}

void TraceCommunicators::join(std::string const& process, std::string const& name, int rank, int size) {
    TraceCommunicator& communicator = communicators_[name];
    communicator.size = size;
    auto const [place, added] = communicator.processes.emplace(rank, process);
    communicator.has_namesake = communicator.has_namesake || (!added && place->second != process);
    processes_[process].ranks[name] = rank;
}

void TraceCommunicators::call(std::string const& process, std::string const& name, TraceOperation operation) {
    processes_[process].calls.emplace_back(name, std::move(operation));
}

void TraceCommunicators::finish(Builder& builder, std::string const& file) {
    int world = builder.assumptions().ranks.value_or(0);
    for (auto const& [name, communicator] : communicators_) {
        world = std::max(world, communicator.size);
    }
    std::map<std::string, Rank> world_ranks;
    for (auto const& [process, known] : processes_) {
        auto const everybody = std::find_if(known.ranks.begin(), known.ranks.end(),
                                            [&](auto const& in) { return communicators_[in.first].size == world; });
        if (everybody == known.ranks.end()) {
            throw UsageError(
                fmt::format("{}: {} is in no communicator of all {} ranks, so its rank is not known; record "
                            "from the begin of the run",
                            file, process, world));
        }
        world_ranks[process] = everybody->second;
    }
    std::map<std::string, TraceGroupId> groups;
    for (auto const& [name, communicator] : communicators_) {
        TraceGroup group{communicator.size == world ? "" : name, communicator.size, {}, 0};
        bool const all_known =
            static_cast<int>(communicator.processes.size()) == communicator.size && !communicator.has_namesake;
        for (auto const& [rank, process] : communicator.processes) {
            if (all_known) {
                group.members.push_back(world_ranks[process]);
            }
        }
        if (communicator.size == world && std::is_sorted(group.members.begin(), group.members.end())) {
            group.members.clear();  // everybody, in order
        }
        groups[name] = builder.group(std::move(group));
    }
    for (auto& [process, known] : processes_) {
        RankProgram program{{world_ranks[process]}, {}};
        // Records of several communicators are written one communicator after the other.
        bool const timed = std::all_of(known.calls.begin(), known.calls.end(),
                                       [](auto const& call) { return call.second.start_us.has_value(); });
        if (timed) {
            std::stable_sort(known.calls.begin(), known.calls.end(), [](auto const& one, auto const& other) {
                return *one.second.start_us < *other.second.start_us;
            });
        }
        for (auto& [name, operation] : known.calls) {
            operation.group = groups[name];
            if (operation.peer) {
                auto const& members = communicators_[name].processes;
                if (auto const peer = members.find(*operation.peer); peer != members.end()) {
                    operation.peer = world_ranks[peer->second];
                } else if (communicators_[name].size != world) {
                    operation.peer.reset();
                }
            }
            program.operations.push_back(std::move(operation));
        }
        builder.add(file, std::move(program));
    }
    builder.world_of(world);
}

}  // namespace dlmb::trace
