// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "tests/fakes/gpu/transfers.hpp"

#include "tests/fakes/gpu/message_progress.hpp"
#include "tests/fakes/gpu/wrong_use.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <sched.h>

namespace dlmb::fake_gpu {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::chrono::seconds patience{30};
constexpr unsigned rounds_between_checks = 1024;

class Run {
public:
    Run(Communicator& communicator, Transfers const& transfers) : communicator_(communicator) {
        auto const peers = static_cast<std::size_t>(communicator.ranks());
        lanes_.reserve(2 * peers);
        for (int peer = 0; peer < communicator.ranks(); ++peer) {
            lanes_.emplace_back(communicator, peer, true, transfers.sends);
            lanes_.emplace_back(communicator, peer, false, transfers.receives);
        }
    }

    /// False: aborted.
    bool until_done() {
        while (!std::all_of(lanes_.begin(), lanes_.end(), [](MessageLane const& lane) { return lane.done(); })) {
            if (communicator_.aborted()) {
                return false;
            }
            bool moved = false;
            for (MessageLane& lane : lanes_) {
                moved = lane.progress() || moved;
            }
            idle_ = moved ? 0 : idle_ + 1;
            if (idle_ > 0) {
                wait();
            } else {
                since_ = Clock::now();
            }
        }
        return true;
    }

private:
    void wait() {
        sched_yield();
        if (idle_ % rounds_between_checks != 0) {
            return;
        }
        for (MessageLane const& lane : lanes_) {
            if (!lane.done() && communicator_.segment.is_gone(lane.peer())) {
                communicator_.fail(ncclRemoteError);
            }
        }
        if (Clock::now() - since_ > patience) {
            complain();
            since_ = Clock::time_point::max();  // once
        }
    }

    void complain() const {
        for (MessageLane const& lane : lanes_) {
            if (!lane.done()) {
                std::fprintf(stderr, "GPU test double: rank %d of %d has waited for %lld s: %s\n", communicator_.rank,
                             communicator_.ranks(), static_cast<long long>(patience.count()), lane.text().c_str());
            }
        }
    }

    Communicator& communicator_;
    std::vector<MessageLane> lanes_;
    unsigned idle_ = 0;
    Clock::time_point since_ = Clock::now();
};

}  // namespace

void run(Communicator& communicator, Transfers const& transfers) {
    std::lock_guard const lock(communicator.executing);
    if (Run(communicator, transfers).until_done()) {
        for (auto const& work : transfers.afterwards) {
            work();
        }
    }
}

}  // namespace dlmb::fake_gpu
