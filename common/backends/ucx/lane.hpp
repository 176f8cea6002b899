// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// One step of a plan that is nothing but messages and copies, while it runs: its messages in the method's order, a
// window over receives and one over sends, and the requests in flight. start() and poll() are the hot path: nothing is
// allocated, nothing virtual is called.
#pragma once

#include "common/backends/ucx/local_work.hpp"
#include "common/backends/ucx/messages.hpp"
#include "common/backends/ucx/tracked_queue.hpp"

#include <string>
#include <vector>

namespace dlmb::ucx {

struct LanePlan {
    std::string name;  // "step 1 \"dispatch\"": for messages
    std::vector<Transfer> receives;
    std::vector<Transfer> sends;
    std::vector<LocalWork> copies;
    TrackedQueue* device = nullptr;  // does the copies; nullptr: the host does
    std::size_t receive_window = 0;  // at most so many posted at once
    std::size_t send_window = 0;
};

class Lane {
public:
    Lane(LanePlan plan, Messages& messages);
    Lane(Lane const&) = delete;
    Lane& operator=(Lane const&) = delete;
    /// Requests left over by an exception are cancelled.
    ~Lane();

    void start(ucp_tag_t iteration);
    /// Collects what is complete and posts what now fits the windows. True: nothing is left to wait for.
    [[nodiscard]] bool poll();

private:
    struct InFlight {
        void* request;
        Transfer const* transfer;
        bool receiving;
    };

    void post();
    [[nodiscard]] bool settled(InFlight const& each);
    void collect();
    void queue_copies();
    /// True: all copies are complete.
    [[nodiscard]] bool copy_some();

    LanePlan plan_;
    Messages& messages_;
    std::vector<InFlight> in_flight_;
    ucp_tag_t iteration_ = 0;
    std::size_t next_receive_ = 0;
    std::size_t next_send_ = 0;
    std::size_t receiving_ = 0;
    std::size_t sending_ = 0;
    std::size_t next_copy_ = 0;
    Bytes copied_ = 0;                 // of the copy in hand
    std::uint64_t queued_copies_ = 0;  // on the device: the number of this piece of work
};

}  // namespace dlmb::ucx
