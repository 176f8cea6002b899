// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// From operations to prepared native calls by one method. Cold: runs in compile().
#pragma once

#include "common/backends/mpi/communicators.hpp"
#include "common/backends/mpi/limits.hpp"
#include "common/backends/mpi/methods.hpp"
#include "common/backends/mpi/native_task.hpp"
#include "common/backends/mpi/survey.hpp"

#include <vector>

namespace dlmb::mpi {

/// What all translations of one plan share. The references outlive them.
struct TranslatedPlan {
    Plan const& plan;
    Method const& method;
    Survey const& agreed;  // equal on all ranks
    Communicators const& communicators;
    Limits const& limits;
};

/// Calls are collective where what they make is (graph communicators, persistent collectives), and the exchanges of a
/// group are translated in one order on all ranks.
class NativeTranslator {
public:
    /// `buffers` are what the native calls are given; `queue`: for self blocks on a device, nullptr for host memory.
    NativeTranslator(TranslatedPlan const& shared, Buffers const& buffers, DeviceQueue const* queue);

    NativeTask operator()(Exchange const& exchange);
    NativeTask operator()(Send const& step);
    NativeTask operator()(Recv const& step);
    NativeTask operator()(AllReduce const& step);
    NativeTask operator()(ReduceScatter const& step);
    NativeTask operator()(AllGather const& step);
    NativeTask operator()(Broadcast const& step);
    NativeTask operator()(Compute const& step);  // throws Error: there is no such call

private:
    [[nodiscard]] Group const& group(GroupId id) const { return shared_.plan.groups.at(id); }
    [[nodiscard]] int size(GroupId id) const { return static_cast<int>(group(id).members.size()); }
    [[nodiscard]] int me(GroupId id) const;
    [[nodiscard]] int next_tag(GroupId id);
    [[nodiscard]] NativeTask alltoall(Exchange const& exchange, std::byte* send, std::byte* recv) const;
    [[nodiscard]] NativeTask alltoallv(Exchange const& exchange, std::byte* send, std::byte* recv) const;
    [[nodiscard]] NativeTask transfers(std::vector<Message> messages, SelfCopy copy, int tag, MPI_Comm comm) const;
    [[nodiscard]] NativeTask message(std::byte* data, Block const& block, GroupId id, int channel, bool outgoing) const;
    [[nodiscard]] NativeTask collective(std::vector<NativeCall> calls, GroupId id) const;

    TranslatedPlan shared_;
    Buffers const& buffers_;
    DeviceQueue const* queue_;
    bool concurrent_;
    std::vector<int> exchanges_;  // by group: how many so far
};

}  // namespace dlmb::mpi
