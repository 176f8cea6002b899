// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/backends/ucx/shared_lane.hpp"

#include <atomic>

namespace dlmb::ucx {
namespace {

constexpr Bytes done_at_once = Bytes{1} << 20;

}  // namespace

void SharedLane::start() {
    ++iteration_;
    program_ = &programs_.at(static_cast<std::size_t>(iteration_ % 2));
    next_ = 0;
    done_ = 0;
}

bool SharedLane::poll() {
    Bytes done_now = 0;
    for (; next_ < program_->size(); ++next_) {
        if (done_now >= done_at_once) {
            return false;
        }
        SharedInstruction const& each = (*program_)[next_];
        switch (each.action) {
        case algorithms::SharedAction::await:
            if (static_cast<std::int64_t>(std::atomic_ref(*each.counter).load(std::memory_order_acquire)) <
                iteration_ * each.stages + each.value) {
                return false;
            }
            break;
        case algorithms::SharedAction::publish:
            std::atomic_ref(*each.counter)
                .store(static_cast<std::uint64_t>(iteration_ * each.stages + each.value), std::memory_order_release);
            break;
        case algorithms::SharedAction::copy:
        case algorithms::SharedAction::reduce:
            if (!do_piece(each.work, done_)) {
                return false;
            }
            done_now += each.work.bytes;
            done_ = 0;
            break;
        }
    }
    return true;
}

}  // namespace dlmb::ucx
