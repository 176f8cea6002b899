// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "patterns/pipeline_p2p/final_collectives.hpp"

#include <fmt/core.h>

#include <utility>

namespace dlmb::pipeline_p2p {
namespace {

/// The members of `me`'s chain at these places.
Group places_in_chain(Params const& params, WorldShape const& world, Rank me, std::set<int> const& places) {
    Group const chain = chain_of(params, world, me);
    Group chosen;
    for (int const place : places) {
        chosen.members.push_back(chain.members[static_cast<std::size_t>(place)]);
    }
    return chosen;
}

/// All ranks, data and context parallel ones too, that hold the same part of a stage at one of these places.
Group replicas(Params const& params, Rank me, std::set<int> const& places) {
    Group chosen;
    for (int const place : places) {
        for (int copy = 0; copy < params.cp * params.dp; ++copy) {
            chosen.members.push_back(place * params.stage_width() + copy * params.tp + me % params.tp);
        }
    }
    return chosen;
}

}  // namespace

Group chain_of(Params const& params, WorldShape const& world, Rank me) {
    return strided_group(world, me, params.shape.ranks, params.stage_width());
}

void FinalCollectives::reserve(BufferBudget& budget) {
    auto const stages = static_cast<Bytes>(stages_per_rank(params_.shape));
    gradients_fit_ = budget.take(2 * stages * params_.gradient_bytes);
    embedding_fits_ =
        budget.take(2 * tied_embedding_bytes(params_.vocabulary, params_.tensor.hidden, params_.tensor.tp));
}

void FinalCollectives::synchronise(PlanBuilder& builder, GradientSync const& sync, std::vector<StepId> const& after) {
    if (params_.gradient_bytes == 0) {
        return;
    }
    std::set<int> places;
    for (int pipe = 0; pipe < pipes_of(params_.shape); ++pipe) {
        places.insert(rank_of(params_.shape, pipe, sync.stage));
    }
    GroupId const group = builder.group(replicas(params_, me_, places));
    builder.microbatch(-1);
    builder.share_buffers(!gradients_fit_);
    std::vector<StepId> waits = after;
    if (last_sync_) {
        waits.push_back(*last_sync_);
    }
    StepId const barrier = builder.all_reduce(group, 4, Element::int32, Reduction::sum,
                                              fmt::format("gradient_sync.barrier.{}", sync.stage), std::move(waits));
    last_sync_ = builder.all_reduce(group, params_.gradient_bytes, Element::fp32, Reduction::sum,
                                    fmt::format("gradient_sync.{}", sync.stage), {barrier});
}

void FinalCollectives::finish(PlanBuilder& builder, std::vector<StepId> after) {
    reduce_tied_embedding(builder, after);
    share_loss(builder, after);
}

std::set<int> FinalCollectives::embedding_places() const {
    std::set<int> places;
    for (int pipe = 0; pipe < pipes_of(params_.shape); ++pipe) {
        places.insert(rank_of(params_.shape, pipe, 0));
        places.insert(rank_of(params_.shape, pipe, stages_per_pipe(params_.shape) - 1));
    }
    return places;
}

void FinalCollectives::reduce_tied_embedding(PlanBuilder& builder, std::vector<StepId>& after) {
    std::set<int> const places = embedding_places();
    bool const member = places.count(me_ / params_.stage_width()) > 0;
    if (params_.vocabulary == 0 || places.size() < 2 || !member) {
        return;
    }
    builder.share_buffers(!embedding_fits_);
    GroupId const group = builder.group(places_in_chain(params_, world_, me_, places));
    Bytes const bytes = tied_embedding_bytes(params_.vocabulary, params_.tensor.hidden, params_.tensor.tp);
    after = {builder.all_reduce(group, bytes, Element::fp32, Reduction::sum, "tied_embedding", after)};
}

void FinalCollectives::share_loss(PlanBuilder& builder, std::vector<StepId>& after) {
    if (!params_.loss) {
        return;
    }
    int const last = rank_of(params_.shape, 0, stages_per_pipe(params_.shape) - 1);
    builder.share_buffers(false);
    if (params_.dp > 1 && me_ / params_.stage_width() == last) {
        GroupId const data = builder.group(strided_group(world_, me_, params_.dp, params_.tp * params_.cp));
        after = {
            builder.all_reduce(data, loss_reduction_bytes, Element::fp32, Reduction::sum, "meta.loss_mean", after)};
    }
    if (params_.shape.ranks > 1) {
        GroupId const chain = builder.group(chain_of(params_, world_, me_));
        after = {builder.broadcast(chain, last, loss_broadcast_bytes, Element::fp32, "meta.loss", after)};
    }
}

}  // namespace dlmb::pipeline_p2p
