// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "patterns/pipeline_p2p/poster.hpp"

#include "patterns/pipeline_p2p/groups.hpp"

#include <string>
#include <utility>

namespace dlmb::pipeline_p2p {

Poster::Poster(Params const& params, WorldShape const& world, Rank me, PlanBuilder& builder, BufferBudget& budget)
    : params_(params), builder_(builder), budget_(budget), chain_(builder.group(chain_of(params, world, me))),
      tensor_ranks_(builder.group(consecutive_group(world, me, params.tp))) {}

StepId Poster::post(Message const& message, Part const& part, int batch, std::vector<StepId> after) {
    settings(message);
    int const other = other_stage(params_.shape, message).value();
    Rank const peer = rank_of(params_.shape, message.pipe, other);
    int const channel = channel_of(message, part.kind);
    std::string label = label_of(params_, message, part.kind);
    return message.incoming
               ? builder_.recv(chain_, peer, part.bytes, channel, batch, std::move(label), std::move(after))
               : builder_.send(chain_, peer, part.bytes, channel, batch, std::move(label), std::move(after));
}

StepId Poster::gather(Message const& message, std::vector<StepId> after) {
    settings(message);
    return builder_.all_gather(tensor_ranks_, tensor_bytes(params_.tensor), params_.element,
                               gather_label_of(params_, message), std::move(after));
}

void Poster::settings(Message const& message) {
    builder_.microbatch(message.microbatch);
    builder_.share_buffers(shares_buffers(message.microbatch));
}

bool Poster::shares_buffers(int microbatch) {
    while (static_cast<int>(fits_.size()) <= microbatch) {
        fits_.push_back(budget_.take(buffer_bytes_per_microbatch(params_)));
    }
    return !fits_[static_cast<std::size_t>(microbatch)];
}

}  // namespace dlmb::pipeline_p2p
