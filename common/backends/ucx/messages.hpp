// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Tagged messages while a plan runs. Messages posts one and asks whether it is complete. A MessageBatch runs a step
// that is nothing but messages and copies: its messages in the method's order, a window over receives and one over
// sends. Both are the hot path: nothing is allocated, nothing virtual is called.
#pragma once

#include "common/backends/ucx/local_work.hpp"
#include "common/backends/ucx/tags.hpp"
#include "common/backends/ucx/worker.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace dlmb::ucx {

struct Transfer {
    std::byte* data = nullptr;
    Bytes bytes = 0;
    ucp_tag_t tag = 0;            // without the iteration
    ucp_ep_h endpoint = nullptr;  // sends only
    Rank peer = 0;                // world rank
    int distance = 0;             // how far ahead (sends) or behind (receives) in the group's ring: the rotated order
};

/// Messages of one kind of memory. What goes wrong is thrown with rank, step and peer.
class Messages {
public:
    Messages(Worker& worker, ucs_memory_type_t memory);

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
        ucs_status_ptr_t const request = ucp_tag_recv_nbx(worker_.handle(), transfer.data, transfer.bytes,
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

    Worker& worker_;
    ucp_request_param_t send_param_{};
    ucp_request_param_t receive_param_{};
    ucp_tag_recv_info_t received_{};
};

struct BatchPlan {
    std::string name;  // "step 1 \"dispatch\"": for errors
    std::vector<Transfer> receives;
    std::vector<Transfer> sends;
    std::vector<LocalWork> copies;
    TrackedQueue* device = nullptr;  // does the copies; nullptr: the host does
    std::size_t receive_window = 0;  // at most so many posted at once
    std::size_t send_window = 0;
};

class MessageBatch {
public:
    MessageBatch(BatchPlan plan, Messages& messages);
    MessageBatch(MessageBatch const&) = delete;
    MessageBatch& operator=(MessageBatch const&) = delete;
    /// Requests left over by an exception are cancelled.
    ~MessageBatch();

    void start(ucp_tag_t iteration);
    /// Collects what is complete and posts what now fits the windows. True: nothing is left to wait for.
    [[nodiscard]] bool poll();
    [[nodiscard]] bool has_copies() const { return !plan_.copies.empty(); }

private:
    struct InFlight {
        void* request;
        Transfer const* transfer;
        bool receiving;
    };

    /// True: something was posted.
    [[nodiscard]] bool post();
    void collect();
    [[nodiscard]] bool is_complete(InFlight const& each);
    void queue_copies();
    /// True: all copies are complete.
    [[nodiscard]] bool copy_some();

    BatchPlan plan_;
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
