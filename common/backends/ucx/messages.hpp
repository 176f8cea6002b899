// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Posts tagged messages of one kind of memory and asks whether they are done. What goes wrong is thrown with rank,
// step and peer. Hot path, hence in the header:
// nothing is allocated here.
#pragma once

#include "common/backends/ucx/tag.hpp"
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
    [[nodiscard]] void* send(Transfer const& transfer, ucp_tag_t iteration, std::string_view step) {
        ucs_status_ptr_t const request =
            ucp_tag_send_nbx(transfer.endpoint, transfer.data, transfer.bytes, transfer.tag | iteration, &send_param_);
        if (UCS_PTR_IS_ERR(request)) {
            fail(transfer, false, step, ucs_status_string(UCS_PTR_STATUS(request)));
        }
        return request;
    }
    [[nodiscard]] void* receive(Transfer const& transfer, ucp_tag_t iteration, std::string_view step) {
        ucs_status_ptr_t const request = ucp_tag_recv_nbx(transport_.worker(), transfer.data, transfer.bytes,
                                                          transfer.tag | iteration, full_tag_mask, &receive_param_);
        if (UCS_PTR_IS_ERR(request)) {
            fail(transfer, true, step, ucs_status_string(UCS_PTR_STATUS(request)));
        }
        return request;
    }
    /// Whether the message is complete; if so the request is gone.
    [[nodiscard]] bool sent(void* request, Transfer const& transfer, std::string_view step) {
        ucs_status_t const status = ucp_request_check_status(request);
        if (status == UCS_INPROGRESS) {
            return false;
        }
        if (status != UCS_OK) {
            fail(transfer, false, step, ucs_status_string(status));
        }
        ucp_request_free(request);
        return true;
    }
    [[nodiscard]] bool received(void* request, Transfer const& transfer, std::string_view step) {
        ucs_status_t const status = ucp_tag_recv_request_test(request, &received_);
        if (status == UCS_INPROGRESS) {
            return false;
        }
        if (status != UCS_OK) {
            fail(transfer, true, step, ucs_status_string(status));
        }
        if (received_.length != transfer.bytes) {
            fail_length(transfer, step, received_.length);
        }
        ucp_request_free(request);
        return true;
    }
    /// Gives up a request that an exception left over.
    void cancel(void* request);

private:
    [[noreturn]] void fail_length(Transfer const& transfer, std::string_view step, Bytes arrived) const;
    [[noreturn]] void fail(Transfer const& transfer, bool receiving, std::string_view step,
                           std::string_view what) const;

    Transport& transport_;
    ucp_request_param_t send_param_{};
    ucp_request_param_t receive_param_{};
    ucp_tag_recv_info_t received_{};
};

}  // namespace dlmb::ucx
