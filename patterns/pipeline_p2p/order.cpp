// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "patterns/pipeline_p2p/order.hpp"

#include <algorithm>
#include <array>
#include <cstddef>

namespace dlmb::pipeline_p2p {
namespace {

enum Slot : std::size_t { send_prev, recv_prev, send_next, recv_next, slots };

/// Previous and next are meant along the pipe.
Slot slot_of(Message const& message) {
    bool const forward = message.direction == Direction::forward;
    if (message.incoming) {
        return forward ? recv_prev : recv_next;
    }
    return forward ? send_next : send_prev;
}

using Places = std::array<std::size_t, slots>;  // by Slot: its place in the order

Places places(Mode mode, int rank) {
    switch (mode) {
    case Mode::separate:
        return rank % 2 == 0 ? Places{2, 1, 0, 3} : Places{3, 0, 1, 2};
    case Mode::meta_data:
        return {0, 1, 3, 2};
    case Mode::batched:
    case Mode::handshake_data:
        break;
    }
    return {0, 1, 2, 3};
}

}  // namespace

Transfer in_order_of_issue(Params const& params, int rank, Transfer transfer) {
    Places const place = places(params.mode, rank);
    std::stable_sort(transfer.begin(), transfer.end(),
                     [&](Message const& a, Message const& b) { return place.at(slot_of(a)) < place.at(slot_of(b)); });
    return transfer;
}

}  // namespace dlmb::pipeline_p2p
