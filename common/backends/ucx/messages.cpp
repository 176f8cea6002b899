// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/backends/ucx/messages.hpp"

#include <fmt/core.h>

#include <algorithm>

namespace dlmb::ucx {

Messages::Messages(Worker& worker, ucs_memory_type_t memory) : worker_(worker) {
    send_param_.op_attr_mask = UCP_OP_ATTR_FIELD_MEMORY_TYPE;
    send_param_.memory_type = memory;
    // UCX 1.13 does not report the length of a message that a receive call completes at once.
    receive_param_.op_attr_mask = UCP_OP_ATTR_FIELD_MEMORY_TYPE | UCP_OP_ATTR_FLAG_NO_IMM_CMPL;
    receive_param_.memory_type = memory;
}

void Messages::cancel(void* request) {
    ucp_request_cancel(worker_.handle(), request);
    ucp_request_free(request);
}

void Messages::fail_length(Transfer const& transfer, std::string_view step, Bytes arrived) const {
    fail(transfer, true, step, fmt::format("{} B arrived instead of {} B", arrived, transfer.bytes));
}

void Messages::fail(Transfer const& transfer, bool receiving, std::string_view step, std::string_view what) const {
    throw Error(fmt::format("ucx: rank {}, {}, {} B {} rank {}: {}: {}", worker_.bootstrap().rank(), step,
                            transfer.bytes, receiving ? "from" : "to", transfer.peer,
                            receiving ? "ucp_tag_recv_nbx" : "ucp_tag_send_nbx", what));
}

MessageBatch::MessageBatch(BatchPlan plan, Messages& messages) : plan_(std::move(plan)), messages_(messages) {
    plan_.receive_window = std::max<std::size_t>(1, std::min(plan_.receive_window, plan_.receives.size()));
    plan_.send_window = std::max<std::size_t>(1, std::min(plan_.send_window, plan_.sends.size()));
    in_flight_.reserve(plan_.receive_window + plan_.send_window);
}

MessageBatch::~MessageBatch() {
    for (InFlight const& each : in_flight_) {
        messages_.cancel(each.request);
    }
}

void MessageBatch::start(ucp_tag_t iteration) {
    iteration_ = iteration;
    next_receive_ = 0;
    next_send_ = 0;
    next_copy_ = 0;
    copied_ = 0;
    (void)post();
    if (plan_.device != nullptr) {
        queue_copies();
    }
}

// A receive whose message has arrived before is complete when it is posted, and no progress of the worker tells of it.
bool MessageBatch::poll() {
    do {
        collect();
    } while (post());
    return copy_some() && in_flight_.empty();
}

// Sends first. A receive whose message has been announced answers at once, and its sender begins to send. A send that
// this rank announces only then is answered behind all of that data: the two directions would follow each other.
bool MessageBatch::post() {
    std::size_t const posted_before = next_send_ + next_receive_;
    for (; next_send_ < plan_.sends.size() && sending_ < plan_.send_window; ++next_send_) {
        Transfer const& transfer = plan_.sends[next_send_];
        if (void* const request = messages_.send(transfer, iteration_, plan_.name)) {
            in_flight_.push_back({request, &transfer, false});
            ++sending_;
        }
    }
    for (; next_receive_ < plan_.receives.size() && receiving_ < plan_.receive_window; ++next_receive_) {
        Transfer const& transfer = plan_.receives[next_receive_];
        in_flight_.push_back({messages_.receive(transfer, iteration_, plan_.name), &transfer, true});
        ++receiving_;
    }
    return next_send_ + next_receive_ > posted_before;
}

void MessageBatch::collect() {
    for (std::size_t i = 0; i < in_flight_.size();) {
        if (is_complete(in_flight_[i])) {
            in_flight_[i] = in_flight_.back();
            in_flight_.pop_back();
        } else {
            ++i;
        }
    }
}

bool MessageBatch::is_complete(InFlight const& each) {
    bool const complete = each.receiving ? messages_.received(each.request, *each.transfer, plan_.name)
                                         : messages_.sent(each.request, *each.transfer, plan_.name);
    if (complete) {
        --(each.receiving ? receiving_ : sending_);
    }
    return complete;
}

void MessageBatch::queue_copies() {
    for (LocalWork const& copy : plan_.copies) {
        queue_work(plan_.device->queue(), copy);
    }
    if (!plan_.copies.empty()) {
        queued_copies_ = plan_.device->mark();
    }
}

bool MessageBatch::copy_some() {
    if (next_copy_ == plan_.copies.size()) {
        return true;
    }
    if (plan_.device != nullptr) {
        next_copy_ = plan_.device->complete(queued_copies_) ? plan_.copies.size() : 0;
    } else if (do_piece(plan_.copies[next_copy_], copied_)) {
        ++next_copy_;
        copied_ = 0;
    }
    return next_copy_ == plan_.copies.size();
}

}  // namespace dlmb::ucx
