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

bool names(std::vector<Message> const& messages, int peer) {
    return std::any_of(messages.begin(), messages.end(), [peer](Message const& message) {
        return message.peer == peer && message.tag.call == Call::message;
    });
}

/// The directions that this launch is the first to use.
std::uint64_t connect(Communicator& communicator, int peer, Transfers const& transfers) {
    std::uint64_t& connected = communicator.connected[static_cast<std::size_t>(peer)];
    std::uint64_t const used =
        (names(transfers.sends, peer) ? sends_bit : 0) | (names(transfers.receives, peer) ? receives_bit : 0);
    std::uint64_t const added = used & ~connected;
    connected |= used;
    return added;
}

class Run {
public:
    Run(Communicator& communicator, Transfers const& transfers) : communicator_(communicator) {
        auto const peers = static_cast<std::size_t>(communicator.ranks());
        lanes_.reserve(2 * peers);
        for (int peer = 0; peer < communicator.ranks(); ++peer) {
            std::uint64_t const connects = connect(communicator, peer, transfers);
            lanes_.emplace_back(communicator, peer, true, transfers.sends, connects);
            lanes_.emplace_back(communicator, peer, false, transfers.receives, connects);
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
    if (std::all_of(transfers.waits.begin(), transfers.waits.end(),
                    [&](AwaitedSignals const& awaited) { return communicator.inbox->take(awaited); })) {
        (void)std::all_of(transfers.puts.begin(), transfers.puts.end(),
                          [&](SignalledPut const& each) { return put(communicator, each); });
    }
    if (Run(communicator, transfers).until_done()) {
        for (auto const& work : transfers.afterwards) {
            work();
        }
    }
}

}  // namespace dlmb::fake_gpu
