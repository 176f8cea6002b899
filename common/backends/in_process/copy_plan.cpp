// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/backends/in_process/copy_plan.hpp"

#include "common/backend/host_reduce.hpp"

#include <cstring>

namespace dlmb::in_process {
namespace {

/// In place, a block may lie where it belongs already.
void copy_block(std::byte* to, std::byte const* from, Bytes bytes) {
    if (to != from && bytes > 0) {
        std::memcpy(to, from, bytes);
    }
}

void busy_loop(Nanoseconds duration_ns) {
    for (Nanoseconds const end = now_ns() + duration_ns; now_ns() < end;) {
    }
}

bool is_done(Work const& work) {
    return work.read == work.arrivals.size() && work.handed_back == work.outgoing.size();
}

}  // namespace

CopyPlan::~CopyPlan() {
    for (Wave& wave : schedule_) {
        for (Work& work : wave) {
            for (std::shared_ptr<Mailbox> const& box : work.outgoing) {
                box->withdraw();
            }
        }
    }
}

void CopyPlan::launch() {
    begin();
    ++iteration_;
    if (!schedule_.empty()) {
        post(schedule_.front());
    }
}

void CopyPlan::finish() {
    for (std::size_t wave = 0; wave < schedule_.size(); ++wave) {
        if (wave > 0) {
            post(schedule_[wave]);
        }
        complete(schedule_[wave]);
    }
}

void CopyPlan::post(Wave& wave) {
    for (Work& work : wave) {
        work.read = 0;
        work.handed_back = 0;
        for (std::shared_ptr<Mailbox> const& box : work.outgoing) {
            box->post(iteration_);
        }
    }
}

void CopyPlan::complete(Wave& wave) {
    std::size_t open = 0;
    for (Work& work : wave) {
        if (work.busy_ns > 0) {
            busy_loop(work.busy_ns);  // peers read what this wave posted meanwhile
        }
        if (is_done(work)) {
            mark(work.step);
        } else {
            ++open;
        }
    }
    while (open > 0) {
        bool moved = false;
        for (Work& work : wave) {
            if (!is_done(work) && advance(work)) {
                moved = true;
                if (is_done(work)) {
                    mark(work.step);
                    --open;
                }
            }
        }
        if (!moved) {
            bootstrap_.leave_if_failed();
            idle_();
        }
    }
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
