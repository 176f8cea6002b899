// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// NCCL before 2.18: an id for each group.
#include "common/backends/nccl/communicators.hpp"

#include <cstring>

namespace dlmb::nccl {

ncclComm_t create_subgroups(Bootstrap& bootstrap, ncclConfig_t config, ncclComm_t /*world*/,
                            std::span<Group const> groups) {
    std::vector<PeerBlob> outgoing;
    Group const* mine = nullptr;
    for (Group const& group : groups) {
        auto const place = rank_in(group, bootstrap.rank());
        mine = place ? &group : mine;
        if (place == 0) {
            ncclUniqueId const id = new_id();
            Blob blob(sizeof id);
            std::memcpy(blob.data(), &id, sizeof id);
            for (Rank const member : group.members) {
                outgoing.push_back({member, blob});
            }
        }
    }
    auto const arrived = bootstrap.exchange(std::move(outgoing));
    if (mine == nullptr) {
        return nullptr;
    }
    ncclUniqueId id{};
    std::memcpy(&id, arrived.at(0).blob.data(), sizeof id);
    return create_from_id(bootstrap, config, id, *mine);
}

}  // namespace dlmb::nccl
