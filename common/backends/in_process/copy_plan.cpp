// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/backends/in_process/copy_plan.hpp"

#include "common/backend_kit/host_reduce.hpp"

#include <cstring>

namespace dlmb::in_process {
namespace {

/// In place, a block may lie where it belongs already.
void copy_block(std::byte* to, std::byte const* from, Bytes bytes) {
    if (to != from && bytes > 0) {
        std::memcpy(to, from, bytes);
    }
}

bool is_done(Work const& work) {
    return work.read == work.arrivals.size() && work.handed_back == work.outgoing.size();
}

}  // namespace

CopyPlan::CopyPlan(Plan const& plan, std::vector<Work> schedule, InProcessBootstrap const& bootstrap, Idle idle)
    : CompiledPlan(plan.steps.size()), schedule_(std::move(schedule)), queue_(precedence_of(plan)),
      bootstrap_(bootstrap), idle_(idle) {
    open_.reserve(schedule_.size());
}

CopyPlan::~CopyPlan() {
    for (Work& work : schedule_) {
        for (std::shared_ptr<Mailbox> const& box : work.outgoing) {
            box->withdraw();
        }
    }
}

void CopyPlan::launch() {
    begin();
    ++iteration_;
    open_.clear();
    queue_.begin();
    start_ready();
}

void CopyPlan::finish() {
    while (!queue_.done()) {
        if (advance_open()) {
            start_ready();
        } else {
            bootstrap_.leave_if_failed();
            idle_();
        }
    }
}

void CopyPlan::start_ready() {
    while (auto const step = queue_.take()) {
        post(schedule_[*step]);
        open_.push_back(*step);
    }
}

void CopyPlan::post(Work& work) const {
    work.read = 0;
    work.handed_back = 0;
    if (work.compute) {
        work.compute->start();
    }
    for (std::shared_ptr<Mailbox> const& box : work.outgoing) {
        box->post(iteration_);
    }
}

/// True when anything moved.
bool CopyPlan::advance_open() {
    bool moved = false;
    std::size_t kept = 0;
    for (StepId const step : open_) {
        Work& work = schedule_[step];
        moved = advance(work) || moved;
        if (is_done(work) && (!work.compute || work.compute->test())) {
            mark(step);
            queue_.complete(step);
            moved = true;
        } else {
            open_[kept++] = step;
        }
    }
    open_.resize(kept);
    return moved;
}

/// True when anything was read or came back.
bool CopyPlan::advance(Work& work) {
    std::size_t const before = work.read + work.handed_back;
    if (work.fold) {
        fold_arrivals(work, *work.fold);
    } else {
        copy_arrivals(work);
    }
    while (work.handed_back < work.outgoing.size() && work.outgoing[work.handed_back]->handed_back(iteration_)) {
        ++work.handed_back;
    }
    if (work.fold && !work.fold->scratch.empty() && is_done(work)) {
        copy_block(work.fold->result, work.fold->scratch.data(), work.fold->scratch.size());
    }
    return work.read + work.handed_back > before;
}

void CopyPlan::copy_arrivals(Work& work) {
    for (Arrival& arrival : work.arrivals) {
        if (arrival.iteration != iteration_ && arrival.box->open(iteration_)) {
            copy_block(arrival.destination, arrival.box->data(), arrival.box->bytes());
            arrival.box->hand_back(iteration_);
            arrival.iteration = iteration_;
            ++work.read;
        }
    }
}

void CopyPlan::fold_arrivals(Work& work, Folding& fold) {
    std::byte* const into = fold.scratch.empty() ? fold.result : fold.scratch.data();
    for (; work.read < work.arrivals.size(); ++work.read) {
        Mailbox& box = *work.arrivals[work.read].box;
        if (!box.open(iteration_)) {
            return;
        }
        if (work.read == 0) {
            copy_block(into, box.data(), box.bytes());
        } else {
            host_reduce(into, box.data(), box.bytes(), fold.element, fold.reduction);
        }
        box.hand_back(iteration_);
    }
}

}  // namespace dlmb::in_process
