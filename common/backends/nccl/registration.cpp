// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/backends/nccl/registration.hpp"

#include "common/backend_kit/blobs.hpp"
#include "common/backends/nccl/check.hpp"
#include "common/bootstrap/over_ranks.hpp"

#include <algorithm>

namespace dlmb::nccl {
namespace {

/// The buffers that NCCL is given, but for puts, whose windows are registered in any case.
std::vector<BufferId> buffers_of(Operation const& operation) {
    std::vector<BufferId> buffers;
    if (!has_signals(operation)) {
        std::visit(
            [&](auto const& step) { for_each_buffer(step, [&](BufferId buffer) { buffers.push_back(buffer); }); },
            operation);
    }
    return buffers;
}

void add(Plan const& plan, std::vector<BufferId>& known, std::vector<BufferId> const& buffers) {
    for (BufferId const buffer : buffers) {
        if (plan.buffers[buffer].bytes > 0 && std::find(known.begin(), known.end(), buffer) == known.end()) {
            known.push_back(buffer);
        }
    }
}

/// Sizes of the windows of one group, as its members tell the first of them.
Blob sizes_blob(Plan const& plan, std::vector<BufferId> const& buffers) {
    std::vector<Bytes> sizes;
    for (BufferId const buffer : buffers) {
        sizes.push_back(plan.buffers[buffer].bytes);
    }
    return blob_of(sizes);
}

/// Collective. Windows take equal sizes in one order on all ranks. Each rank sends its sizes in the order of its
/// groups, sorted by members, which is the order in which they arrive.
bool sizes_are_equal(Bootstrap& bootstrap, Plan const& plan) {
    std::vector<PeerBlob> outgoing;
    std::map<Rank, std::vector<Blob>> expected;
    for (auto const& [members, buffers] : collective_uses(plan)) {
        Blob const sizes = sizes_blob(plan, buffers);
        outgoing.push_back({members.front(), sizes});
        if (members.front() == bootstrap.rank()) {
            for (Rank const member : members) {
                expected[member].push_back(sizes);
            }
        }
    }
    std::map<Rank, std::vector<Blob>> told;
    for (PeerBlob& each : bootstrap.exchange(std::move(outgoing))) {
        told[each.peer].push_back(std::move(each.blob));
    }
    return !any_rank(bootstrap, told != expected);
}

/// Any device memory; on this rank alone, though registering on some ranks only is an error of the caller.
Registration::Handle register_user_buffer(ncclComm_t communicator, std::byte* data, Bytes bytes) {
    void* handle = nullptr;
    check(ncclCommRegister(communicator, data, bytes, &handle), "ncclCommRegister");
    return {communicator, handle,
            [](ncclComm_t of, void* registered) noexcept { (void)ncclCommDeregister(of, registered); }};
}

}  // namespace

BufferUses collective_uses(Plan const& plan) {
    BufferUses uses;
    for (Step const& step : plan.steps) {
        std::vector<BufferId> const buffers = buffers_of(step.operation);
        if (!is_message(kind_of(step.operation)) && !buffers.empty()) {
            add(plan, uses[plan.groups[*group_of(step.operation)].members], buffers);
        }
    }
    return uses;
}

std::vector<BufferId> message_uses(Plan const& plan) {
    std::vector<BufferId> uses;
    for (Step const& step : plan.steps) {
        if (is_message(kind_of(step.operation))) {
            add(plan, uses, buffers_of(step.operation));
        }
    }
    return uses;
}

Registration::~Registration() {
    if (communicators_->aborted()) {
        return;
    }
    std::for_each(handles_.rbegin(), handles_.rend(),
                  [](Handle const& made) { made.undo(made.communicator, made.handle); });
}

void register_buffers(Plan const& plan, Buffers const& buffers, Bootstrap& bootstrap, Communicators& communicators,
                      Registration& registration) {
    bool const windows =
        buffers.kind == MemoryKind::nccl && windows_missing() == nullptr && sizes_are_equal(bootstrap, plan);
    for (auto const& [members, used] : collective_uses(plan)) {
        ncclComm_t const communicator = communicators.of({members});
        for (BufferId const id : used) {
            Bytes const bytes = plan.buffers[id].bytes;
            registration.add(windows ? register_window(bootstrap, communicator, buffers.base[id], bytes)
                                     : register_user_buffer(communicator, buffers.base[id], bytes));
        }
    }
    for (BufferId const id : windows ? std::vector<BufferId>{} : message_uses(plan)) {
        registration.add(register_user_buffer(communicators.world(), buffers.base[id], plan.buffers[id].bytes));
    }
}

}  // namespace dlmb::nccl
