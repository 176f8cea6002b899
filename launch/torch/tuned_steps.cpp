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

/// As tables count them; 0 of an exchange of unequal blocks and of what tables know no size of.
Bytes bytes_of(Operation const& operation, bool ragged) {
    if (auto const* const step = std::get_if<Collective>(&operation)) {
        return step->bytes;
    }
    auto const* const exchange = std::get_if<Exchange>(&operation);
    return exchange == nullptr || ragged ? 0 : sent_by(*exchange);
}

/// Nothing: tables have no rules for it.
std::optional<tuning::Key> key_of(Operation const& operation, Members const& members, bool ragged) {
    auto const tuned = tuning::operation_named(name_of(operation));
    if (!tuned) {
        return std::nullopt;
    }
    tuning::Key key{.operation = *tuned,
                    .bytes = bytes_of(operation, ragged),
                    .ranks = members.world_ranks.size(),
                    .nodes = static_cast<std::uint64_t>(members.nodes),
                    .memory = std::string(name_of(MemoryKind::host))};
    if (auto const* const step = std::get_if<Collective>(&operation)) {
        key.dtype = name_of(step->element);
        if (reduces(step->kind)) {
            key.reduction = name_of(step->reduction);
        }
        if (reduces(step->kind) && !has_root(step->kind)) {  // all_gather may be in place on some ranks only
            key.in_place = step->send == step->recv;
        }
    } else if (std::holds_alternative<Exchange>(operation)) {
        key.in_place = false;
        key.uniform = !ragged;
        key.imbalance = ragged ? std::nullopt : std::optional(1.0);
    }
    return key;
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

TunedSteps::Decision TunedSteps::decide(Plan const& plan, std::optional<tuning::Key> const& key, bool ragged) const {
    Decision decision;
    Operation const& operation = plan.steps.front().operation;
    decision.used = {std::string(name_of(operation)), bytes_of(operation, ragged),
                     static_cast<int>(plan.groups.front().members.size())};
    if (ragged) {
        decision.method.name = "alltoallv";  // the other ranks may have equal blocks, and know no more of these
    } else if (chooser_ != nullptr) {
        StepChoice const choice = key ? chooser_->choose(*key) : chooser_->baseline(name_of(MemoryKind::host));
        if (choice.backend == "ucx") {
            choose_over_ucx(plan, choice, decision);
        }
        if (!decision.over_ucx) {
            choose_over_mpi(plan, key ? chooser_->choose_within("mpi", *key) : StepChoice{"mpi"}, decision);
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

void TunedSteps::choose_over_mpi(Plan const& plan, StepChoice const& choice, Decision& decision) const {
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
    std::optional<tuning::Key> const key = key_of(operation, members, ragged);
    Call call{kind_of(operation), bytes_of(operation, ragged), members.world_ranks, key, ragged};
    Plan plan{me_, {{members.world_ranks}}, {}, {}};
    Buffers buffers;
    for (void* const place : memory) {
        plan.buffers.push_back({});
        buffers.base.push_back(static_cast<std::byte*>(place));
    }
    std::string label(name_of(operation));
    plan.steps.push_back({std::move(operation), {}, std::move(label)});

    auto known = decisions_.find(call);
    if (known == decisions_.end()) {
        Decision decision = decide(plan, key, ragged);
        std::scoped_lock const lock(mutex_);
        known = decisions_.emplace(std::move(call), std::move(decision)).first;
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
