// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/backends/nccl/communicators.hpp"

#include "common/backends/nccl/check.hpp"
#include "common/backends/nccl/group_list.hpp"
#include "common/backends/nccl/making.hpp"
#include "common/base/clock.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>

namespace dlmb::nccl {

Communicators::~Communicators() {
    // Parents last. Nothing can be done about a failure here.
    std::for_each(all_.rbegin(), all_.rend(), [](ncclComm_t communicator) { ncclCommDestroy(communicator); });
}

void Communicators::prepare(std::span<Group const> groups) {
    if (aborted_) {
        throw Error("nccl: was aborted in this launch and cannot be used again");
    }
    Nanoseconds const start = now_ns();
    if (all_.empty()) {
        make_world();
    }
    for (std::vector<Group> const& batch : disjoint_batches(new_groups(groups))) {
        auto const mine = std::find_if(batch.begin(), batch.end(), [&](Group const& group) {
            return place_of(bootstrap_.rank(), group) < group.members.size();
        });
        ncclComm_t const made = make_subgroups(bootstrap_, world(), batch);
        if (mine != batch.end()) {
            keep(*mine, made);
        }
    }
    init_ns_ += now_ns() - start;
}

void Communicators::make_world() {
    Group world;
    world.members.resize(static_cast<std::size_t>(bootstrap_.size()));
    std::iota(world.members.begin(), world.members.end(), 0);
    Blob blob;
    if (bootstrap_.rank() == 0) {
        ncclUniqueId const id = new_id();
        blob.resize(sizeof id);
        std::memcpy(blob.data(), &id, sizeof id);
    }
    bootstrap_.broadcast(blob, 0);
    ncclUniqueId id{};
    std::memcpy(&id, blob.data(), sizeof id);
    keep(world, make_from_id(bootstrap_, id, world));
}

/// Over all ranks, in one order. The first member of a group speaks for it; whether it exists all members know alike.
std::vector<Group> Communicators::new_groups(std::span<Group const> mine) {
    std::vector<Group> led;
    std::copy_if(mine.begin(), mine.end(), std::back_inserter(led), [&](Group const& group) {
        return group.members.front() == bootstrap_.rank() && by_members_.count(group.members) == 0;
    });
    return unpack_groups(bootstrap_.all_gather(pack_groups(led)));
}

void Communicators::keep(Group const& group, ncclComm_t communicator) {
    all_.push_back(communicator);
    by_members_[group.members] = communicator;
}

void Communicators::throw_if_failed() {
    for (ncclComm_t const communicator : all_) {
        ncclResult_t state = ncclSuccess;
        check(ncclCommGetAsyncError(communicator, &state), "ncclCommGetAsyncError");
        if (state != ncclSuccess && state != ncclInProgress) {
            abort();  // otherwise freeing memory would wait for the stuck kernel
            check(state, "asynchronous error of a communicator");
        }
    }
}

void Communicators::abort() noexcept {
    aborted_ = true;
    for (ncclComm_t const communicator : all_) {
        ncclCommAbort(communicator);
    }
    all_.clear();
    by_members_.clear();
}

}  // namespace dlmb::nccl
