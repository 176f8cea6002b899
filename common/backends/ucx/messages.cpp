// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/backends/ucx/messages.hpp"

#include "common/backends/ucx/tag.hpp"
#include "common/base/error.hpp"

#include <fmt/core.h>

namespace dlmb::ucx {

Messages::Messages(Transport& transport, ucs_memory_type_t memory) : transport_(transport) {
    send_param_.op_attr_mask = UCP_OP_ATTR_FIELD_MEMORY_TYPE;
    send_param_.memory_type = memory;
    receive_param_.op_attr_mask = UCP_OP_ATTR_FIELD_MEMORY_TYPE | UCP_OP_ATTR_FLAG_NO_IMM_CMPL;
    receive_param_.memory_type = memory;
}

void* Messages::send(Transfer const& transfer, ucp_tag_t iteration, std::string_view step) {
    ucs_status_ptr_t const request =
        ucp_tag_send_nbx(transfer.endpoint, transfer.data, transfer.bytes, transfer.tag | iteration, &send_param_);
    if (UCS_PTR_IS_ERR(request)) {
        fail(transfer, false, step, ucs_status_string(UCS_PTR_STATUS(request)));
    }
    return request;
}

void* Messages::receive(Transfer const& transfer, ucp_tag_t iteration, std::string_view step) {
    ucs_status_ptr_t const request = ucp_tag_recv_nbx(transport_.worker(), transfer.data, transfer.bytes,
                                                      transfer.tag | iteration, full_tag_mask, &receive_param_);
    if (UCS_PTR_IS_ERR(request)) {
        fail(transfer, true, step, ucs_status_string(UCS_PTR_STATUS(request)));
    }
    return request;
}

bool Messages::sent(void* request, Transfer const& transfer, std::string_view step) {
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

bool Messages::received(void* request, Transfer const& transfer, std::string_view step) {
    ucs_status_t const status = ucp_tag_recv_request_test(request, &received_);
    if (status == UCS_INPROGRESS) {
        return false;
    }
    if (status != UCS_OK) {
        fail(transfer, true, step, ucs_status_string(status));
    }
    if (received_.length != transfer.bytes) {
        fail(transfer, true, step, fmt::format("{} B arrived instead of {} B", received_.length, transfer.bytes));
    }
    ucp_request_free(request);
    return true;
}

void Messages::cancel(void* request) {
    ucp_request_cancel(transport_.worker(), request);
    ucp_request_free(request);
}

void Messages::fail(Transfer const& transfer, bool receiving, std::string_view step, std::string_view what) const {
    throw Error(fmt::format("ucx: rank {}, {}, {} B {} rank {}: {}: {}", transport_.bootstrap().rank(), step,
                            transfer.bytes, receiving ? "from" : "to", transfer.peer,
                            receiving ? "ucp_tag_recv_nbx" : "ucp_tag_send_nbx", what));
}

}  // namespace dlmb::ucx
