// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/backends/mpi/translate.hpp"

#include "common/backends/mpi/persistent_api.hpp"
#include "common/base/error.hpp"
#include "common/plan/group_index.hpp"
#include "common/plan/packed.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <numeric>
#include <optional>

namespace dlmb::mpi {
namespace {

// Open MPI 4.1's nonblocking MPI_Ialltoallv takes equal addresses for MPI_IN_PLACE and then hangs, and a send buffer of
// 0 bytes may lie where the receive buffer begins.
std::byte nothing_sent[1];

class Translator {
public:
    Translator(Plan const& plan, Buffers const& buffers, Method const& method, Survey const& agreed,
               Communicators const& communicators, Limits const& limits)
        : plan_(plan), buffers_(buffers), method_(method), agreed_(agreed), communicators_(communicators),
          limits_(limits), concurrent_(agreed.concurrent || method.id == MethodId::nonblocking),
          exchanges_(plan.groups.size(), 0) {}

    Task operator()(Exchange const& exchange) {
        MPI_Comm const comm = communicators_.of(group(exchange.group));
        int const tag = next_tag(exchange.group);
        std::byte* const send = exchange.send.empty() ? nothing_sent : buffers_.base[exchange.send_buffer];
        std::byte* const recv = buffers_.base[exchange.recv_buffer];
        int const ranks = size(exchange.group);
        switch (method_.id) {
        case MethodId::alltoall: {
            Packed const from = packed(exchange.send, group(exchange.group).members.size()).value();
            Packed const to = packed(exchange.recv, group(exchange.group).members.size()).value();
            return Alltoall(send + from.offset, recv + to.offset, static_cast<int>(from.block_bytes), comm,
                            concurrent_);
        }
        case MethodId::alltoallv:
        case MethodId::blocking:
        case MethodId::nonblocking:
            if (!agreed_.large) {
                return Alltoallv(dense_side(exchange.send, send, ranks), dense_side(exchange.recv, recv, ranks), comm,
                                 concurrent_);
            }
            if (has_large_counts()) {
                return LargeAlltoallv(dense_large_side(exchange.send, send, ranks),
                                      dense_large_side(exchange.recv, recv, ranks), comm, concurrent_);
            }
            break;
        case MethodId::neighbor:
            if (!agreed_.large) {
                return Neighbor(exchange, send, recv, comm, concurrent_);
            }
            break;
        case MethodId::pairwise:
            return Pairwise(exchange, buffers_, me(exchange.group), ranks, method_.max_outstanding, limits_, tag, comm);
        case MethodId::isend_irecv:
        case MethodId::persistent:
            break;
        }
        return transfers(messages_of(exchange, buffers_, me(exchange.group), limits_),
                         self_copy(exchange, buffers_, me(exchange.group)), tag, comm);
    }
    Task operator()(Send const& step) {
        return message(buffers_.base[step.buffer] + step.to.offset, step.to, step.group, step.channel, true);
    }
    Task operator()(Recv const& step) {
        return message(buffers_.base[step.buffer] + step.from.offset, step.from, step.group, step.channel, false);
    }
    Task operator()(AllReduce const& step) { return collective(native_calls(step, buffers_, limits_), step.group); }
    Task operator()(Broadcast const& step) { return collective(native_calls(step, buffers_, limits_), step.group); }
    Task operator()(ReduceScatter const& step) {
        return collective(native_calls(step, buffers_, size(step.group)), step.group);
    }
    Task operator()(AllGather const& step) {
        return collective(native_calls(step, buffers_, size(step.group), me(step.group)), step.group);
    }
    Task operator()(Compute const& step) { return Busy(step); }

private:
    [[nodiscard]] Group const& group(GroupId id) const { return plan_.groups.at(id); }
    [[nodiscard]] int size(GroupId id) const { return static_cast<int>(group(id).members.size()); }
    [[nodiscard]] int me(GroupId id) const { return rank_in(group(id), plan_.me).value(); }

    // Exchanges of a group may be in flight together, and a window posts their rounds interleaved. Every MPI library
    // offers at least these tags.
    int next_tag(GroupId id) {
        constexpr int tags = 32768;
        return exchanges_[id]++ % tags;
    }

    Task transfers(std::vector<Message> messages, SelfCopy copy, int tag, MPI_Comm comm) const {
        if (method_.id == MethodId::persistent) {
            return Persistent(persistent_requests(messages, tag, comm), copy);
        }
        return IsendIrecv(std::move(messages), copy, tag, comm);
    }

    // On the world's communicator: a pair of ranks matches its messages by channel, whichever group they name. An empty
    // message is sent, too.
    Task message(std::byte* data, Block const& block, GroupId id, int channel, bool outgoing) const {
        Rank const peer = group(id).members.at(static_cast<std::size_t>(block.peer));
        std::vector<Message> messages;
        append_messages(data, block.bytes, peer, outgoing, limits_, messages);
        if (messages.empty()) {
            messages.push_back({data, 0, peer, outgoing});
        }
        return transfers(std::move(messages), {}, channel, communicators_.world());
    }

    Task collective(std::vector<NativeCall> calls, GroupId id) const {
        if (method_.id == MethodId::persistent && persistent_api() != nullptr) {
            return Persistent(persistent_requests(calls, communicators_.of(group(id))), {});
        }
        return Collective(std::move(calls), communicators_.of(group(id)), concurrent_);
    }

    Plan const& plan_;
    Buffers const& buffers_;
    Method const& method_;
    Survey const& agreed_;
    Communicators const& communicators_;
    Limits const& limits_;
    bool concurrent_;
    std::vector<int> exchanges_;  // by group: how many so far
};

// Making a graph communicator or a persistent collective is collective over its group. Group by group, sorted by
// members, all ranks that share groups come to them in one order; the steps of a group keep theirs.
std::vector<StepId> translation_order(Plan const& plan) {
    std::vector<StepId> order(plan.steps.size());
    std::iota(order.begin(), order.end(), StepId{0});
    std::vector<Rank> const none;
    auto const members = [&](StepId step) -> std::vector<Rank> const& {
        auto const id = collective_group(plan.steps[step].operation);
        return id ? plan.groups.at(*id).members : none;
    };
    std::stable_sort(order.begin(), order.end(), [&](StepId a, StepId b) { return members(a) < members(b); });
    return order;
}

}  // namespace

std::vector<Task> translate(Plan const& plan, Buffers const& buffers, Method const& method, Survey const& agreed,
                            Communicators const& communicators, Limits const& limits) {
    Translator translator(plan, buffers, method, agreed, communicators, limits);
    std::vector<std::optional<Task>> by_step(plan.steps.size());
    for (StepId const step : translation_order(plan)) {
        by_step[step].emplace(std::visit(translator, plan.steps[step].operation));
    }
    std::vector<Task> tasks;
    tasks.reserve(by_step.size());
    for (std::optional<Task>& task : by_step) {
        tasks.push_back(std::move(*task));
    }
    return tasks;
}

}  // namespace dlmb::mpi
