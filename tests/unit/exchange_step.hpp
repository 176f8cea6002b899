// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Exchanges whose sizes are a function of the two ranks.
#pragma once

#include "common/formats/plan/builder.hpp"
#include "common/formats/plan/group_index.hpp"

#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace dlmb {

/// Bytes from one rank of a group to another.
using BytesBetween = std::function<Bytes(Rank from, Rank to)>;

inline StepId add_exchange(PlanBuilder& builder, Group const& group, Rank me, BytesBetween const& bytes,
                           std::string label, std::vector<StepId> after = {}) {
    Rank const own = rank_in(group, me).value();
    std::vector<Bytes> send;
    std::vector<Bytes> recv;
    for (Rank peer = 0; peer < static_cast<Rank>(group.members.size()); ++peer) {
        send.push_back(bytes(own, peer));
        recv.push_back(bytes(peer, own));
    }
    return builder.exchange(builder.group(group), send, recv, std::move(label), std::move(after));
}

}  // namespace dlmb
