// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Blocks of an exchange that go as several messages.
#pragma once

#include "common/backend/algorithms/shape.hpp"

namespace dlmb::ucx {

/// Blocks of `from` to `up_to` bytes go in pieces of `piece`, the last one shorter. Alike on all ranks.
struct MessageCut {
    Bytes from = 0;
    Bytes up_to = 0;
    Bytes piece = 0;  // 0: every block is one message

    [[nodiscard]] Bytes piece_of(Bytes block) const {
        return piece > 0 && from <= block && block <= up_to ? piece : block;
    }
};

/// Over sockets, where ranks have cores of their own: what would be a rendezvous of few megabytes. Each of its round
/// trips costs as much as it saves in copies, and one long write keeps a rank from reading.
inline constexpr MessageCut cut_over_tcp{algorithms::rendezvous_by_sockets, Bytes{4} << 20, Bytes{256} << 10};

}  // namespace dlmb::ucx
