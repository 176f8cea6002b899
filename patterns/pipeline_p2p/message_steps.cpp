// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "patterns/pipeline_p2p/message_steps.hpp"

#include "patterns/pipeline_p2p/final_collectives.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <utility>

namespace dlmb::pipeline_p2p {
namespace {

enum Slot : std::size_t { send_prev, recv_prev, send_next, recv_next, slots };

/// Previous and next are meant along the pipe.
Slot slot_of(TensorMessage const& message) {
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

MessageSteps::MessageSteps(Params const& params, WorldShape const& world, Rank me, PlanBuilder& builder,
                           BufferBudget& budget)
    : params_(params), builder_(builder), budget_(budget), chain_(builder.group(chain_of(params, world, me))),
      tensor_ranks_(builder.group(consecutive_group(world, me, params.tp))) {}

StepId MessageSteps::post(TensorMessage const& message, WireMessage const& wire, int batch, std::vector<StepId> after) {
    settings(message);
    int const other = other_stage(params_.shape, message).value();
    Rank const peer = rank_of(params_.shape, message.pipe, other);
    int const channel = channel_of(message, wire.kind);
    std::string label = label_of(params_, message, wire.kind);
    return message.incoming
               ? builder_.recv(chain_, peer, wire.bytes, channel, batch, std::move(label), std::move(after))
               : builder_.send(chain_, peer, wire.bytes, channel, batch, std::move(label), std::move(after));
}

StepId MessageSteps::gather(TensorMessage const& message, std::vector<StepId> after) {
    settings(message);
    return builder_.all_gather(tensor_ranks_, tensor_bytes(params_.tensor), params_.element,
                               gather_label_of(params_, message), std::move(after));
}

void MessageSteps::settings(TensorMessage const& message) {
    builder_.microbatch(message.microbatch);
    builder_.share_buffers(shares_buffers(message.microbatch));
}

bool MessageSteps::shares_buffers(int microbatch) {
    while (static_cast<int>(fits_.size()) <= microbatch) {
        fits_.push_back(budget_.take(buffer_bytes_per_microbatch(params_)));
    }
    return !fits_[static_cast<std::size_t>(microbatch)];
}

Transfer in_order_of_issue(Params const& params, int rank, Transfer transfer) {
    Places const place = places(params.mode, rank);
    std::stable_sort(transfer.begin(), transfer.end(), [&](TensorMessage const& a, TensorMessage const& b) {
        return place.at(slot_of(a)) < place.at(slot_of(b));
    });
    return transfer;
}

}  // namespace dlmb::pipeline_p2p
