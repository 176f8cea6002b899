// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/backends/ucx/lane.hpp"

#include "common/backends/ucx/tag.hpp"
#include "common/base/error.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cstring>

namespace dlmb::ucx {
namespace {

/// Local copies are cut, so that peers get progress from this rank meanwhile.
constexpr Bytes copy_piece = Bytes{1} << 20;

}  // namespace

Lane::Lane(LanePlan plan, Transport& transport, ucs_memory_type_t memory)
    : plan_(std::move(plan)), transport_(transport) {
    plan_.receive_window = std::max<std::size_t>(1, std::min(plan_.receive_window, plan_.receives.size()));
    plan_.send_window = std::max<std::size_t>(1, std::min(plan_.send_window, plan_.sends.size()));
    in_flight_.reserve(plan_.receive_window + plan_.send_window);
    send_param_.op_attr_mask = UCP_OP_ATTR_FIELD_MEMORY_TYPE;
    send_param_.memory_type = memory;
    receive_param_.op_attr_mask = UCP_OP_ATTR_FIELD_MEMORY_TYPE | UCP_OP_ATTR_FLAG_NO_IMM_CMPL;
    receive_param_.memory_type = memory;
    receive_param_.recv_info.tag_info = &received_;
}

Lane::~Lane() {
    for (InFlight const& each : in_flight_) {
        ucp_request_cancel(transport_.worker(), each.request);
        ucp_request_free(each.request);
    }
}

void Lane::start(ucp_tag_t iteration) {
    iteration_ = iteration;
    next_receive_ = 0;
    next_send_ = 0;
    next_copy_ = 0;
    copied_ = 0;
    post();
    if (plan_.busy_ns > 0) {
        busy_until_ = now_ns() + plan_.busy_ns;
    }
}

bool Lane::poll() {
    collect();
    post();
    copy_some();
    return in_flight_.empty() && next_copy_ == plan_.copies.size() && (plan_.busy_ns == 0 || now_ns() >= busy_until_);
}

void Lane::post() {
    for (; next_receive_ < plan_.receives.size() && receiving_ < plan_.receive_window; ++next_receive_) {
        post_receive(plan_.receives[next_receive_]);
    }
    for (; next_send_ < plan_.sends.size() && sending_ < plan_.send_window; ++next_send_) {
        post_send(plan_.sends[next_send_]);
    }
}

void Lane::post_receive(Transfer const& transfer) {
    ucs_status_ptr_t const request = ucp_tag_recv_nbx(transport_.worker(), transfer.data, transfer.bytes,
                                                      transfer.tag | iteration_, full_tag_mask, &receive_param_);
    if (request == nullptr) {
        check_length(transfer, received_.length);
    } else if (UCS_PTR_IS_ERR(request)) {
        fail(transfer, true, ucs_status_string(UCS_PTR_STATUS(request)));
    } else {
        in_flight_.push_back({request, &transfer, true});
        ++receiving_;
    }
}

void Lane::post_send(Transfer const& transfer) {
    ucs_status_ptr_t const request =
        ucp_tag_send_nbx(transfer.endpoint, transfer.data, transfer.bytes, transfer.tag | iteration_, &send_param_);
    if (UCS_PTR_IS_ERR(request)) {
        fail(transfer, false, ucs_status_string(UCS_PTR_STATUS(request)));
    }
    if (request != nullptr) {
        in_flight_.push_back({request, &transfer, false});
        ++sending_;
    }
}

void Lane::collect() {
    for (std::size_t i = 0; i < in_flight_.size();) {
        if (settled(in_flight_[i])) {
            in_flight_[i] = in_flight_.back();
            in_flight_.pop_back();
        } else {
            ++i;
        }
    }
}

bool Lane::settled(InFlight const& each) {
    ucs_status_t const status =
        each.receiving ? ucp_tag_recv_request_test(each.request, &received_) : ucp_request_check_status(each.request);
    if (status == UCS_INPROGRESS) {
        return false;
    }
    if (status != UCS_OK) {
        fail(*each.transfer, each.receiving, ucs_status_string(status));
    }
    if (each.receiving) {
        check_length(*each.transfer, received_.length);
    }
    ucp_request_free(each.request);
    --(each.receiving ? receiving_ : sending_);
    return true;
}

void Lane::copy_some() {
    if (next_copy_ == plan_.copies.size()) {
        return;
    }
    LocalCopy const& copy = plan_.copies[next_copy_];
    Bytes const piece = std::min(copy_piece, copy.bytes - copied_);
    std::memcpy(copy.to + copied_, copy.from + copied_, piece);
    copied_ += piece;
    if (copied_ == copy.bytes) {
        ++next_copy_;
        copied_ = 0;
    }
}

void Lane::check_length(Transfer const& transfer, Bytes bytes) const {
    if (bytes != transfer.bytes) {
        fail(transfer, true, fmt::format("{} B arrived instead of {} B", bytes, transfer.bytes));
    }
}

void Lane::fail(Transfer const& transfer, bool receiving, std::string_view what) const {
    throw Error(fmt::format("ucx: rank {}, {}, {} B {} rank {}: {}: {}", transport_.bootstrap().rank(), plan_.name,
                            transfer.bytes, receiving ? "from" : "to", transfer.peer,
                            receiving ? "ucp_tag_recv_nbx" : "ucp_tag_send_nbx", what));
}

}  // namespace dlmb::ucx
