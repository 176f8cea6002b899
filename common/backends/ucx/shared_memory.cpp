// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/backends/ucx/shared_memory.hpp"

#include "common/backends/ucx/check.hpp"

#include <cstring>
#include <utility>

namespace dlmb::ucx {

SharedMemory::SharedMemory(Transport const& transport, Bytes bytes) : context_(transport.context()) {
    ucp_mem_map_params_t params{};
    params.field_mask =
        UCP_MEM_MAP_PARAM_FIELD_ADDRESS | UCP_MEM_MAP_PARAM_FIELD_LENGTH | UCP_MEM_MAP_PARAM_FIELD_FLAGS;
    params.length = bytes;
    params.flags = UCP_MEM_MAP_ALLOCATE;
    check(ucp_mem_map(context_, &params, &handle_), "ucp_mem_map");
    ucp_mem_attr_t attributes{};
    attributes.field_mask = UCP_MEM_ATTR_FIELD_ADDRESS;
    check(ucp_mem_query(handle_, &attributes), "ucp_mem_query");
    data_ = static_cast<std::byte*>(attributes.address);
    std::memset(data_, 0, bytes);  // its pages are this rank's, not those of the peer that touches them first
}

SharedMemory::~SharedMemory() {
    ucp_mem_unmap(context_, handle_);
}

Blob SharedMemory::key() const {
    void* packed = nullptr;
    std::size_t size = 0;
    check(ucp_rkey_pack(context_, handle_, &packed, &size), "ucp_rkey_pack");
    auto const* const first = static_cast<std::byte const*>(packed);
    Blob key(first, first + size);
    ucp_rkey_buffer_release(packed);
    return key;
}

PeerMemory::PeerMemory(Transport const& transport, Rank peer, std::byte const* key, std::uint64_t address) {
    void* here = nullptr;
    // Either call fails where the two ranks' transports share no memory, which is an answer and no fault.
    if (ucp_ep_rkey_unpack(transport.endpoint(peer), key, &key_) == UCS_OK &&
        ucp_rkey_ptr(key_, address, &here) == UCS_OK) {
        data_ = static_cast<std::byte*>(here);
    }
}

PeerMemory::PeerMemory(PeerMemory&& other) noexcept
    : key_(std::exchange(other.key_, nullptr)), data_(std::exchange(other.data_, nullptr)) {}

PeerMemory::~PeerMemory() {
    if (key_ != nullptr) {
        ucp_rkey_destroy(key_);
    }
}

}  // namespace dlmb::ucx
