// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/backends/nccl/communicators.hpp"

#include "common/backends/nccl/check.hpp"

#include <algorithm>
#include <cstring>
#include <sched.h>

namespace dlmb::nccl {
namespace {

/// An id with the members of its group, as one letter.
Blob pack(ncclUniqueId const& id, std::vector<Rank> const& members) {
    Blob blob(sizeof id + members.size() * sizeof(Rank));
    std::memcpy(blob.data(), &id, sizeof id);
    std::memcpy(blob.data() + sizeof id, members.data(), members.size() * sizeof(Rank));
    return blob;
}

void unpack(Blob const& blob, std::map<std::vector<Rank>, ncclUniqueId>& ids) {
    ncclUniqueId id{};
    std::memcpy(&id, blob.data(), sizeof id);
    std::vector<Rank> members((blob.size() - sizeof id) / sizeof(Rank));
    std::memcpy(members.data(), blob.data() + sizeof id, members.size() * sizeof(Rank));
    ids[members] = id;
}

/// A non-blocking communicator answers ncclInProgress until it is usable.
void wait_until_ready(ncclComm_t communicator) {
    ncclResult_t state = ncclInProgress;
    while (state == ncclInProgress) {
        check(ncclCommGetAsyncError(communicator, &state), "ncclCommGetAsyncError");
        sched_yield();
    }
    check(state, "ncclCommInitRankConfig");
}

}  // namespace

Communicators::~Communicators() {
    for (auto const& [members, communicator] : communicators_) {
        ncclCommDestroy(communicator);
    }
}

std::vector<ncclComm_t> Communicators::all() const {
    std::vector<ncclComm_t> found;
    for (auto const& [members, communicator] : communicators_) {
        found.push_back(communicator);
    }
    return found;
}

void Communicators::abort() noexcept {
    for (auto const& [members, communicator] : communicators_) {
        ncclCommAbort(communicator);
    }
    communicators_.clear();
}

ncclComm_t Communicators::initialise(ncclUniqueId const& id, std::vector<Rank> const& members) const {
    ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
    config.blocking = 0;
    auto const place = std::find(members.begin(), members.end(), bootstrap_.rank()) - members.begin();
    ncclComm_t communicator = nullptr;
    check(ncclCommInitRankConfig(&communicator, static_cast<int>(members.size()), id, static_cast<int>(place), &config),
          "ncclCommInitRankConfig");
    wait_until_ready(communicator);
    return communicator;
}

void Communicators::prepare(std::span<Group const> groups) {
    std::vector<Letter> letters;
    for (Group const& group : groups) {
        bool const leads = group.members.front() == bootstrap_.rank();
        if (leads && communicators_.count(group.members) == 0) {
            ncclUniqueId id{};
            check(ncclGetUniqueId(&id), "ncclGetUniqueId");
            for (Rank const member : group.members) {
                letters.push_back({member, pack(id, group.members)});
            }
        }
    }
    std::map<std::vector<Rank>, ncclUniqueId> ids;
    for (Letter const& letter : bootstrap_.exchange(std::move(letters))) {
        unpack(letter.blob, ids);
    }
    // In the order of their members on every rank: two ranks that share two groups never wait for each other crosswise.
    for (auto const& [members, id] : ids) {
        communicators_[members] = initialise(id, members);
    }
}

}  // namespace dlmb::nccl
