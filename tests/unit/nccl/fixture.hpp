// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Plans become calls without NCCL: a test double of communicators, which are only told apart, and buffers nobody
// touches.
#pragma once

#include "common/backends/nccl/translate.hpp"
#include "common/formats/plan/builder.hpp"

#include <map>
#include <stdexcept>
#include <vector>

namespace dlmb::nccl {

/// One number per list of members. Shared by all ranks of a test.
class FakeCommunicators {
public:
    explicit FakeCommunicators(int ranks) {
        Group world;
        for (Rank rank = 0; rank < ranks; ++rank) {
            world.members.push_back(rank);
        }
        world_ = of(world);
    }
    [[nodiscard]] ncclComm_t of(Group const& group) {
        auto const [place, is_new] = handles_.try_emplace(group.members, nullptr);
        if (is_new) {
            // NOLINTNEXTLINE(performance-no-int-to-ptr): a handle that nothing dereferences
            place->second = reinterpret_cast<ncclComm_t>(handles_.size());
        }
        return place->second;
    }
    [[nodiscard]] ncclComm_t world() const { return world_; }
    [[nodiscard]] CommunicatorLookup lookup() {
        return {world_, [this](Group const& group) { return of(group); }};
    }

private:
    std::map<std::vector<Rank>, ncclComm_t> handles_;
    ncclComm_t world_ = nullptr;
};

/// Addresses that tell buffers apart.
inline Buffers fake_buffers(Plan const& plan) {
    Buffers buffers{MemoryKind::cuda, {}};
    for (std::size_t i = 0; i < plan.buffers.size(); ++i) {
        // NOLINTNEXTLINE(performance-no-int-to-ptr): an address that nothing dereferences
        buffers.base.push_back(reinterpret_cast<std::byte*>((i + 1) << 32));
    }
    return buffers;
}

inline std::vector<Item> items_of(Plan const& plan, FakeCommunicators& communicators,
                                  CallSettings const& settings = {}) {
    auto items = translate(plan, fake_buffers(plan), communicators.lookup(), settings);
    if (!items) {
        throw std::runtime_error(items.error().reason);
    }
    return std::move(items).value();
}

inline Group group_of(std::vector<Rank> members) {
    return {std::move(members)};
}

}  // namespace dlmb::nccl
