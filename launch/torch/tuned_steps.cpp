// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "launch/torch/tuned_steps.hpp"

#include "common/bootstrap/mpi/mpi_check.hpp"

#include <fmt/core.h>
#include <mpi.h>

#include <algorithm>

namespace dlmb::torch {
namespace {

Bytes sent_by(Exchange const& exchange) {
    Bytes bytes = 0;
    for (Block const& block : exchange.send) {
        bytes += block.bytes;
    }
    return bytes;
}

StepTraits traits_of(Operation const& operation, Members const& members, bool ragged) {
    StepTraits traits;
    traits.kind = kind_of(operation);
    traits.ranks = static_cast<int>(members.world_ranks.size());
    traits.nodes = members.nodes;
    std::visit(
        [&](auto const& step) {
            if constexpr (requires { step.bytes; }) {
                traits.bytes = step.bytes;
                traits.element = step.element;
            }
            if constexpr (requires { step.reduction; }) {
                traits.reduction = step.reduction;
            }
            if constexpr (requires { step.send_buffer; }) {
                traits.bytes = ragged ? 0 : sent_by(step);
                traits.uniform = !ragged;
                traits.imbalance = ragged ? std::nullopt : std::optional(1.0);
            }
        },
        operation);
    if (auto const* const step = std::get_if<AllReduce>(&operation)) {
        traits.in_place = step->send == step->recv;
    }
    return traits;
}

}  // namespace

TunedSteps::TunedSteps(tuning::TableChooser const* chooser, std::string const& ucx_version, bool yield)
    : chooser_(chooser), runner_(yield) {
    mpi::check(MPI_Comm_rank(MPI_COMM_WORLD, &me_), "MPI_Comm_rank");
    if (chooser_ != nullptr) {
        std::vector<std::string> const backends = chooser_->backends();
        if (std::find(backends.begin(), backends.end(), "ucx") != backends.end()) {
            ucx_ = make_ucx_steps(chooser_->methods_of("ucx"), ucx_version, why_no_ucx_);
        }
    }
}

TunedSteps::Decision TunedSteps::decide(Plan const& plan, StepTraits const& traits, bool ragged) const {
    Decision decision;
    decision.used = {std::string(name_of(traits.kind)), traits.bytes, traits.ranks};
    if (ragged) {
        decision.method.name = "alltoallv";  // the other ranks may have equal blocks, and know no more of these
    } else if (chooser_ != nullptr) {
        if (StepChoice const choice = chooser_->choose(traits); choice.backend == "ucx") {
            choose_over_ucx(plan, choice, decision);
        }
        if (!decision.over_ucx) {
            choose_over_mpi(plan, traits, decision);
        }
    }
    decision.used.method = to_string(decision.method);
    return decision;
}

void TunedSteps::choose_over_ucx(Plan const& plan, StepChoice const& choice, Decision& decision) const {
    std::string& why_not = decision.used.why_not;
    why_not = !ucx_ ? why_no_ucx_ : choice.why_not.empty() ? ucx_->refusal(plan, choice.method) : choice.why_not;
    if (why_not.empty()) {
        decision.over_ucx = true;
        decision.method = choice.method;
        decision.used.backend = "ucx";
        decision.used.rule = choice.rule;
    }
}

void TunedSteps::choose_over_mpi(Plan const& plan, StepTraits const& traits, Decision& decision) const {
    StepChoice const choice = chooser_->choose_within("mpi", traits);
    std::string const why_not = choice.why_not.empty() ? runner_.refusal(plan, choice.method) : choice.why_not;
    decision.used.rule = choice.rule;
    if (why_not.empty()) {
        decision.method = choice.method;
        decision.is_default = choice.method == MethodChoice{};
    } else {
        decision.used.why_not += (decision.used.why_not.empty() ? "" : "; ") + why_not;
    }
}

void TunedSteps::run(Members const& members, Operation operation, std::vector<void*> const& memory, bool ragged) {
    StepTraits const traits = traits_of(operation, members, ragged);
    Plan plan{me_, {{members.world_ranks}}, {}, {}};
    Buffers buffers;
    for (void* const place : memory) {
        plan.buffers.push_back({});
        buffers.base.push_back(static_cast<std::byte*>(place));
    }
    plan.steps.push_back({std::move(operation), {}, std::string(name_of(traits.kind))});

    Key key{traits.kind, traits.bytes, members.world_ranks, traits.element, traits.reduction, traits.in_place, ragged};
    auto known = decisions_.find(key);
    if (known == decisions_.end()) {
        Decision decision = decide(plan, traits, ragged);
        std::scoped_lock const lock(mutex_);
        known = decisions_.emplace(std::move(key), std::move(decision)).first;
    }
    Decision& decision = known->second;
    try {
        decision.over_ucx ? ucx_->run(plan, buffers, decision.method) : runner_.run(plan, buffers, decision.method);
    } catch (mpi::CallFailed const& failure) {
        if (decision.is_default || ragged) {
            throw;
        }
        // The library says of some algorithms only when they are called that they cannot do it, on all ranks alike and
        // before anything is sent.
        {
            std::scoped_lock const lock(mutex_);
            decision.used.why_not = failure.summary();
            decision.method = {};
            decision.is_default = true;
            decision.used.method = to_string(decision.method);
        }
        runner_.run(plan, buffers, decision.method);
    }
    std::scoped_lock const lock(mutex_);
    ++decision.used.calls;
}

std::vector<Used> TunedSteps::report() const {
    std::scoped_lock const lock(mutex_);
    std::vector<Used> all;
    for (auto const& [key, decision] : decisions_) {
        all.push_back(decision.used);
    }
    return all;
}

}  // namespace dlmb::torch
