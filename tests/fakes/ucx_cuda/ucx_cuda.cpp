// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// A test double, loaded in front of UCX beside that of the CUDA runtime: a UCX that says it knows CUDA memory. The
// "device memory" of the other double is memory of the process, so messages are passed on to the real UCX as messages
// of host memory, after a check that the caller named the kind of memory that it really gave: the mistake with which
// a real UCX ends in a segmentation fault.
#include <ucp/api/ucp.h>

#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>

namespace {

template <class Function>
Function find(char const* name, void* where) {
    void* const found = dlsym(where, name);
    if (found == nullptr) {
        std::fprintf(stderr, "ucx_cuda test double: no %s: load libdlmb_fake_gpu.so too, and run with UCX\n", name);
        std::abort();
    }
    return reinterpret_cast<Function>(found);
}

bool is_device(void const* memory) {
    static auto const ask = find<bool (*)(void const*)>("dlmb_fake_gpu_is_device", RTLD_DEFAULT);
    return ask(memory);
}

/// Where the other double keeps the bytes: the addresses that the program has may be protected.
void* view(void const* memory) {
    static auto const ask = find<void* (*)(void*)>("dlmb_fake_gpu_view", RTLD_DEFAULT);
    return ask(const_cast<void*>(memory));
}

ucs_memory_type_t named_type(ucp_request_param_t const& param) {
    return (param.op_attr_mask & UCP_OP_ATTR_FIELD_MEMORY_TYPE) != 0 ? param.memory_type : UCS_MEMORY_TYPE_HOST;
}

bool is_wrong(void const* memory, std::size_t bytes, ucp_request_param_t const& param) {
    ucs_memory_type_t const named = named_type(param);
    auto const* const last = static_cast<char const*>(memory) + (bytes == 0 ? 0 : bytes - 1);
    bool const device = is_device(memory) && is_device(last);
    bool const expects_device = named == UCS_MEMORY_TYPE_CUDA;
    return named != UCS_MEMORY_TYPE_CUDA_MANAGED && device != expects_device;
}

ucp_request_param_t as_host(ucp_request_param_t const& param) {
    ucp_request_param_t host = param;
    host.op_attr_mask |= UCP_OP_ATTR_FIELD_MEMORY_TYPE;
    host.memory_type = UCS_MEMORY_TYPE_HOST;
    return host;
}

}  // namespace

extern "C" {

ucs_status_t ucp_context_query(ucp_context_h context, ucp_context_attr_t* attributes) {
    static auto const real = find<decltype(&ucp_context_query)>("ucp_context_query", RTLD_NEXT);
    ucs_status_t const status = real(context, attributes);
    if (status == UCS_OK && (attributes->field_mask & UCP_ATTR_FIELD_MEMORY_TYPES) != 0) {
        attributes->memory_types |= UCS_BIT(UCS_MEMORY_TYPE_CUDA) | UCS_BIT(UCS_MEMORY_TYPE_CUDA_MANAGED);
    }
    return status;
}

ucs_status_ptr_t ucp_tag_send_nbx(ucp_ep_h endpoint, void const* data, size_t bytes, ucp_tag_t tag,
                                  ucp_request_param_t const* param) {
    static auto const real = find<decltype(&ucp_tag_send_nbx)>("ucp_tag_send_nbx", RTLD_NEXT);
    if (is_wrong(data, bytes, *param)) {
        return UCS_STATUS_PTR(UCS_ERR_INVALID_ADDR);
    }
    ucp_request_param_t const host = as_host(*param);
    return real(endpoint, view(data), bytes, tag, &host);
}

ucs_status_ptr_t ucp_tag_recv_nbx(ucp_worker_h worker, void* data, size_t bytes, ucp_tag_t tag, ucp_tag_t mask,
                                  ucp_request_param_t const* param) {
    static auto const real = find<decltype(&ucp_tag_recv_nbx)>("ucp_tag_recv_nbx", RTLD_NEXT);
    if (is_wrong(data, bytes, *param)) {
        return UCS_STATUS_PTR(UCS_ERR_INVALID_ADDR);
    }
    ucp_request_param_t const host = as_host(*param);
    return real(worker, view(data), bytes, tag, mask, &host);
}

}  // extern "C"
