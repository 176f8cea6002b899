// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Puts and signals: what other ranks write to this one, which takes no part but for a thread that does what NCCL's
// copy engines and proxies do. The bytes of a put are in the window before its signal is counted.
#pragma once

#include "tests/fakes/gpu/communicator.hpp"

#include <thread>

namespace dlmb::fake_gpu {

/// Of 0 bytes: a signal alone.
struct SignalledPut {
    int peer = 0;
    std::byte const* data = nullptr;
    std::size_t bytes = 0;
    std::uint64_t window = 0;
    std::uint64_t offset = 0;
};

struct AwaitedSignals {
    int peer = 0;
    std::uint64_t count = 0;
};

class Inbox {
public:
    explicit Inbox(Communicator& communicator);

    /// Takes the next signals from a peer when all have arrived. False: the communicator was aborted.
    [[nodiscard]] bool take(AwaitedSignals const& awaited);

private:
    /// Of one peer.
    struct Arriving {
        std::byte* to = nullptr;       // the rest of the current message
        std::uint64_t bytes_left = 0;  // of it
        bool started = false;
        std::vector<std::byte> held;  // a payload that its signal has overtaken
        std::byte* held_to = nullptr;
    };

    void work(std::stop_token const& stop);
    bool receive(int peer);
    void begin(Arriving& arriving, Slot const& first, int peer);

    Communicator& communicator_;
    std::vector<Arriving> arriving_;
    std::vector<std::atomic<std::uint64_t>> signals_;  // ever, by peer
    std::vector<std::uint64_t> taken_;
    std::jthread thread_;
};

/// Ends when the peer has the last byte. False: the communicator was aborted.
[[nodiscard]] bool put(Communicator& communicator, SignalledPut const& put);

}  // namespace dlmb::fake_gpu
