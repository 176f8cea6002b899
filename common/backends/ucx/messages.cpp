// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/backends/ucx/messages.hpp"

#include "common/base/error.hpp"

#include <fmt/core.h>

namespace dlmb::ucx {

Messages::Messages(Transport& transport, ucs_memory_type_t memory) : transport_(transport) {
    send_param_.op_attr_mask = UCP_OP_ATTR_FIELD_MEMORY_TYPE;
    send_param_.memory_type = memory;
    receive_param_.op_attr_mask = UCP_OP_ATTR_FIELD_MEMORY_TYPE | UCP_OP_ATTR_FLAG_NO_IMM_CMPL;
    receive_param_.memory_type = memory;
}

void Messages::cancel(void* request) {
    ucp_request_cancel(transport_.worker(), request);
    ucp_request_free(request);
}

void Messages::fail_length(Transfer const& transfer, std::string_view step, Bytes arrived) const {
    fail(transfer, true, step, fmt::format("{} B arrived instead of {} B", arrived, transfer.bytes));
}

void Messages::fail(Transfer const& transfer, bool receiving, std::string_view step, std::string_view what) const {
    throw Error(fmt::format("ucx: rank {}, {}, {} B {} rank {}: {}: {}", transport_.bootstrap().rank(), step,
                            transfer.bytes, receiving ? "from" : "to", transfer.peer,
                            receiving ? "ucp_tag_recv_nbx" : "ucp_tag_send_nbx", what));
}

}  // namespace dlmb::ucx
