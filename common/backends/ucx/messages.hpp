// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Posts tagged messages of one kind of memory and asks whether they are done. What goes wrong is thrown with rank,
// step and peer. Hot path: nothing is allocated here.
#pragma once

#include "common/backends/ucx/transport.hpp"

#include <string_view>

namespace dlmb::ucx {

struct Transfer {
    std::byte* data = nullptr;
    Bytes bytes = 0;
    ucp_tag_t tag = 0;            // without the iteration
    ucp_ep_h endpoint = nullptr;  // sends only
    Rank peer = 0;                // world rank
    int distance = 0;             // in the group's ring, as in Message
};

class Messages {
public:
    Messages(Transport& transport, ucs_memory_type_t memory);

    // `step` names the plan's step in errors: "step 1 \"dispatch\"". A null request: the message is complete.
    [[nodiscard]] void* send(Transfer const& transfer, ucp_tag_t iteration, std::string_view step);
    [[nodiscard]] void* receive(Transfer const& transfer, ucp_tag_t iteration, std::string_view step);
    /// Whether the message is complete; if so the request is gone.
    [[nodiscard]] bool sent(void* request, Transfer const& transfer, std::string_view step);
    [[nodiscard]] bool received(void* request, Transfer const& transfer, std::string_view step);
    /// Gives up a request that an exception left over.
    void cancel(void* request);

private:
    [[noreturn]] void fail(Transfer const& transfer, bool receiving, std::string_view step,
                           std::string_view what) const;

    Transport& transport_;
    ucp_request_param_t send_param_{};
    ucp_request_param_t receive_param_{};
    ucp_tag_recv_info_t received_{};
};

}  // namespace dlmb::ucx
