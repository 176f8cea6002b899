// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/backends/mpi/native_translator.hpp"

#include "common/backends/mpi/persistent_api.hpp"
#include "common/base/error.hpp"
#include "common/plan/group_index.hpp"
#include "common/plan/packed.hpp"

namespace dlmb::mpi {
namespace {

// Open MPI 4.1's nonblocking MPI_Ialltoallv takes equal addresses for MPI_IN_PLACE and then hangs, and a send buffer of
// 0 bytes may lie where the receive buffer begins.
std::byte nothing_sent[1];

}  // namespace

NativeTranslator::NativeTranslator(TranslatedPlan const& shared, Buffers const& buffers, DeviceQueue const* queue)
    : shared_(shared), buffers_(buffers), queue_(queue),
      concurrent_(shared.agreed.concurrent || shared.method.id == MethodId::nonblocking),
      exchanges_(shared.plan.groups.size(), 0) {}

NativeTask NativeTranslator::operator()(Exchange const& exchange) {
    MPI_Comm const comm = shared_.communicators.of(group(exchange.group));
    int const tag = next_tag(exchange.group);
    int const own = me(exchange.group);
    std::byte* const send = exchange.send.empty() ? nothing_sent : buffers_.base[exchange.send_buffer];
    std::byte* const recv = buffers_.base[exchange.recv_buffer];
    bool const large = shared_.agreed.large;
    switch (shared_.method.id) {
    case MethodId::alltoall:
        return alltoall(exchange, send, recv);
    case MethodId::alltoallv:
    case MethodId::blocking:
    case MethodId::nonblocking:
        if (!large || has_large_counts()) {
            return alltoallv(exchange, send, recv);
        }
        break;
    case MethodId::neighbor:
        if (!large) {
            return Neighbor(exchange, send, recv, comm, concurrent_);
        }
        break;
    case MethodId::pairwise:
        return Pairwise(exchange, buffers_, own, size(exchange.group), shared_.method.max_outstanding, shared_.limits,
                        self_copy(exchange, buffers_, own, queue_), tag, comm);
    case MethodId::isend_irecv:
    case MethodId::persistent:
        break;
    }
    return transfers(messages_of(exchange, buffers_, own, shared_.limits), self_copy(exchange, buffers_, own, queue_),
                     tag, comm);
}

NativeTask NativeTranslator::operator()(Send const& step) {
    return message(buffers_.base[step.buffer] + step.to.offset, step.to, step.group, step.channel, true);
}
NativeTask NativeTranslator::operator()(Recv const& step) {
    return message(buffers_.base[step.buffer] + step.from.offset, step.from, step.group, step.channel, false);
}
NativeTask NativeTranslator::operator()(AllReduce const& step) {
    return collective(native_calls(step, buffers_, shared_.limits), step.group);
}
NativeTask NativeTranslator::operator()(Broadcast const& step) {
    return collective(native_calls(step, buffers_, shared_.limits), step.group);
}
NativeTask NativeTranslator::operator()(ReduceScatter const& step) {
    return collective(native_calls(step, buffers_, size(step.group)), step.group);
}
NativeTask NativeTranslator::operator()(AllGather const& step) {
    return collective(native_calls(step, buffers_, size(step.group), me(step.group)), step.group);
}
NativeTask NativeTranslator::operator()(Compute const& /*step*/) {
    throw Error("mpi: a compute step is no native call");
}

int NativeTranslator::me(GroupId id) const {
    return rank_in(group(id), shared_.plan.me).value();
}

// Exchanges of a group may be in flight together, and a window posts their rounds interleaved. Every MPI library
// offers at least these tags.
int NativeTranslator::next_tag(GroupId id) {
    constexpr int tags = 32768;
    return exchanges_[id]++ % tags;
}

NativeTask NativeTranslator::alltoall(Exchange const& exchange, std::byte* send, std::byte* recv) const {
    Packed const from = packed(exchange.send, group(exchange.group).members.size()).value();
    Packed const to = packed(exchange.recv, group(exchange.group).members.size()).value();
    return Alltoall(send + from.offset, recv + to.offset, static_cast<int>(from.block_bytes),
                    shared_.communicators.of(group(exchange.group)), concurrent_);
}

NativeTask NativeTranslator::alltoallv(Exchange const& exchange, std::byte* send, std::byte* recv) const {
    MPI_Comm const comm = shared_.communicators.of(group(exchange.group));
    int const ranks = size(exchange.group);
    if (shared_.agreed.large) {
        return LargeAlltoallv(dense_large_side(exchange.send, send, ranks),
                              dense_large_side(exchange.recv, recv, ranks), comm, concurrent_);
    }
    return Alltoallv(dense_side(exchange.send, send, ranks), dense_side(exchange.recv, recv, ranks), comm, concurrent_);
}

NativeTask NativeTranslator::transfers(std::vector<Message> messages, SelfCopy copy, int tag, MPI_Comm comm) const {
    if (shared_.method.id == MethodId::persistent) {
        return Persistent(persistent_requests(messages, tag, comm), std::move(copy));
    }
    return IsendIrecv(std::move(messages), std::move(copy), tag, comm);
}

// On the world's communicator: a pair of ranks matches its messages by channel, whichever group they name. An empty
// message is sent, too.
NativeTask NativeTranslator::message(std::byte* data, Block const& block, GroupId id, int channel,
                                     bool outgoing) const {
    Rank const peer = group(id).members.at(static_cast<std::size_t>(block.peer));
    std::vector<Message> messages;
    append_messages(data, block.bytes, peer, outgoing, shared_.limits, messages);
    if (messages.empty()) {
        messages.push_back({data, 0, peer, outgoing});
    }
    return transfers(std::move(messages), {}, channel, shared_.communicators.world());
}

NativeTask NativeTranslator::collective(std::vector<NativeCall> calls, GroupId id) const {
    MPI_Comm const comm = shared_.communicators.of(group(id));
    if (shared_.method.id == MethodId::persistent && persistent_api() != nullptr) {
        return Persistent(persistent_requests(calls, comm), {});
    }
    return Collective(std::move(calls), comm, concurrent_);
}

}  // namespace dlmb::mpi
