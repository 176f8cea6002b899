// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// One step of a plan while it runs: its messages in the method's order, a window over receives and one over sends, and
// the requests in flight. start() and poll() are the hot path: nothing is allocated, nothing virtual is called.
#pragma once

#include "common/backends/ucx/lowering.hpp"
#include "common/backends/ucx/transport.hpp"

#include <string>
#include <vector>

namespace dlmb::ucx {

struct Transfer {
    std::byte* data = nullptr;
    Bytes bytes = 0;
    ucp_tag_t tag = 0;            // without the iteration
    ucp_ep_h endpoint = nullptr;  // sends only
    Rank peer = 0;                // world rank
    int distance = 0;             // in the group's ring, as in Message
};

struct LanePlan {
    StepId step = 0;
    std::string name;  // "step 1 \"dispatch\"": for messages
    std::vector<Transfer> receives;
    std::vector<Transfer> sends;
    std::vector<LocalCopy> copies;
    std::size_t receive_window = 0;  // at most so many posted at once
    std::size_t send_window = 0;
    Nanoseconds busy_ns = 0;
};

class Lane {
public:
    Lane(LanePlan plan, Transport& transport, ucs_memory_type_t memory);
    Lane(Lane const&) = delete;
    Lane& operator=(Lane const&) = delete;
    /// Requests left over by an exception are cancelled.
    ~Lane();

    void start(ucp_tag_t iteration);
    /// Collects what is complete and posts what now fits the windows. True: nothing is left to wait for.
    [[nodiscard]] bool poll();
    [[nodiscard]] StepId step() const { return plan_.step; }

private:
    struct InFlight {
        void* request;
        Transfer const* transfer;
        bool receiving;
    };

    void post();
    void post_receive(Transfer const& transfer);
    void post_send(Transfer const& transfer);
    [[nodiscard]] bool settled(InFlight const& each);
    void collect();
    void copy_some();
    void check_length(Transfer const& transfer, Bytes bytes) const;
    [[noreturn]] void fail(Transfer const& transfer, bool receiving, std::string_view what) const;

    LanePlan plan_;
    Transport& transport_;
    ucp_request_param_t send_param_{};
    ucp_request_param_t receive_param_{};
    ucp_tag_recv_info_t received_{};
    std::vector<InFlight> in_flight_;
    ucp_tag_t iteration_ = 0;
    std::size_t next_receive_ = 0;
    std::size_t next_send_ = 0;
    std::size_t receiving_ = 0;
    std::size_t sending_ = 0;
    std::size_t next_copy_ = 0;
    Bytes copied_ = 0;
    Nanoseconds busy_until_ = 0;
};

}  // namespace dlmb::ucx
