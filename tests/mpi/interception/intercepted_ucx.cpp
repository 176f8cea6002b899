// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "tests/mpi/interception/intercepted_ucx.hpp"

#include <ucp/api/ucp.h>

#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>

namespace dlmb::intercepted {
namespace {

std::uint64_t own_worker = 0;
std::map<ucp_ep_h, std::uint64_t> worker_behind;  // by endpoint
std::map<std::uint64_t, std::uint64_t> sent;
std::map<std::uint64_t, std::uint64_t> got;

/// The library's own function of this name.
template <class Function>
Function library_function(Function /*wrapper*/, char const* name) {
    void* const found = dlsym(RTLD_NEXT, name);
    if (found == nullptr) {
        std::fprintf(stderr, "intercepted_ucx: UCX has no %s\n", name);
        std::abort();
    }
    return reinterpret_cast<Function>(found);
}

std::uint64_t worker_id(ucp_address_t const* address) {
    ucp_worker_address_attr_t attributes{};
    attributes.field_mask = UCP_WORKER_ADDRESS_ATTR_FIELD_UID;
    if (ucp_worker_address_query(const_cast<ucp_address_t*>(address), &attributes) != UCS_OK) {
        std::abort();
    }
    return attributes.worker_uid;
}

}  // namespace

std::uint64_t own_worker_id() {
    return own_worker;
}

std::map<std::uint64_t, std::uint64_t> bytes_sent() {
    return sent;
}

std::map<std::uint64_t, std::uint64_t> bytes_got() {
    return got;
}

void reset() {
    sent.clear();
    got.clear();
}

}  // namespace dlmb::intercepted

extern "C" {

ucs_status_t ucp_worker_get_address(ucp_worker_h worker, ucp_address_t** address_p, size_t* address_length_p) {
    static auto const real = dlmb::intercepted::library_function(&ucp_worker_get_address, "ucp_worker_get_address");
    ucs_status_t const status = real(worker, address_p, address_length_p);
    if (status == UCS_OK) {
        dlmb::intercepted::own_worker = dlmb::intercepted::worker_id(*address_p);
    }
    return status;
}

ucs_status_t ucp_ep_create(ucp_worker_h worker, ucp_ep_params_t const* params, ucp_ep_h* ep_p) {
    static auto const real = dlmb::intercepted::library_function(&ucp_ep_create, "ucp_ep_create");
    ucs_status_t const status = real(worker, params, ep_p);
    if (status == UCS_OK) {
        dlmb::intercepted::worker_behind[*ep_p] = dlmb::intercepted::worker_id(params->address);
    }
    return status;
}

ucs_status_ptr_t ucp_tag_send_nbx(ucp_ep_h ep, void const* buffer, size_t count, ucp_tag_t tag,
                                  ucp_request_param_t const* param) {
    static auto const real = dlmb::intercepted::library_function(&ucp_tag_send_nbx, "ucp_tag_send_nbx");
    dlmb::intercepted::sent[dlmb::intercepted::worker_behind.at(ep)] += count;
    return real(ep, buffer, count, tag, param);
}

ucs_status_ptr_t ucp_put_nbx(ucp_ep_h ep, void const* buffer, size_t count, uint64_t remote_addr, ucp_rkey_h rkey,
                             ucp_request_param_t const* param) {
    static auto const real = dlmb::intercepted::library_function(&ucp_put_nbx, "ucp_put_nbx");
    dlmb::intercepted::sent[dlmb::intercepted::worker_behind.at(ep)] += count;
    return real(ep, buffer, count, remote_addr, rkey, param);
}

ucs_status_ptr_t ucp_get_nbx(ucp_ep_h ep, void* buffer, size_t count, uint64_t remote_addr, ucp_rkey_h rkey,
                             ucp_request_param_t const* param) {
    static auto const real = dlmb::intercepted::library_function(&ucp_get_nbx, "ucp_get_nbx");
    dlmb::intercepted::got[dlmb::intercepted::worker_behind.at(ep)] += count;
    return real(ep, buffer, count, remote_addr, rkey, param);
}

}  // extern "C"
