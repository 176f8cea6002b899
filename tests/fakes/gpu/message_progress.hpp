// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// The messages of one launch to, or from, one peer: one after the other through the ring between the two.
#pragma once

#include "tests/fakes/gpu/transfers.hpp"

#include <string>

namespace dlmb::fake_gpu {

class MessageLane {
public:
    /// Those of `messages` that are with `peer`. `connects`: the directions that this launch is the first to use.
    MessageLane(Communicator& communicator, int peer, bool sends, std::vector<Message> const& messages,
                std::uint64_t connects);
    [[nodiscard]] bool done() const { return current_ == messages_.size(); }
    [[nodiscard]] int peer() const { return peer_; }
    /// Moves what can be moved now; true: something was.
    bool progress();
    /// What it waits for.
    [[nodiscard]] std::string text() const;

private:
    bool send();
    bool receive();
    void require_match(Slot const& first, Message const& message) const;
    void next_message();

    Communicator& communicator_;
    int peer_;
    bool sends_;
    Ring& ring_;
    std::uint64_t connects_;
    std::vector<Message> messages_;
    std::size_t current_ = 0;
    std::size_t moved_ = 0;        // bytes of the current message
    bool started_ = false;         // its first slot was written or read
    std::uint64_t last_slot_ = 0;  // the ring's count of read slots when the receiver has it all
};

}  // namespace dlmb::fake_gpu
