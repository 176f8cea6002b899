// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// UCX's C interface as C++: statuses as exceptions, owners of its objects, its configuration, what it prints as text,
// and the kinds of memory that a context reads and writes.
#pragma once

#include "common/base/error.hpp"
#include "common/memory/memory_space.hpp"

#include <ucp/api/ucp.h>
#include <ucs/memory/memory_type.h>

#include <cstdio>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>

namespace dlmb::ucx {

/// Throws Error "ucx: <call>: <UCX's text>" unless the status is UCS_OK.
void check(ucs_status_t status, std::string_view call, Where where = Where::here());
template <class T>
void check(T, std::string_view) = delete;  // another library's code must not convert

/// Parameters of a request that asks for nothing special.
inline constexpr ucp_request_param_t no_options{};

struct ReleaseConfig {
    void operator()(ucp_config_t* config) const { ucp_config_release(config); }
};
struct DestroyWorker {
    void operator()(ucp_worker_h worker) const { ucp_worker_destroy(worker); }
};
using ConfigHandle = std::unique_ptr<ucp_config_t, ReleaseConfig>;
using ContextHandle = std::shared_ptr<ucp_context>;
using WorkerHandle = std::unique_ptr<ucp_worker, DestroyWorker>;

struct UnmapMemory {
    ucp_context_h context;
    void operator()(ucp_mem_h memory) const { ucp_mem_unmap(context, memory); }
};
using MappedMemory = std::unique_ptr<std::remove_pointer_t<ucp_mem_h>, UnmapMemory>;
/// Memory of the caller, which outlives it; memory that UCX allocates, where peers on the node can write it.
[[nodiscard]] MappedMemory map_memory(ucp_context_h context, std::byte* data, Bytes bytes);
[[nodiscard]] MappedMemory allocate_mapped(ucp_context_h context, Bytes bytes);
[[nodiscard]] std::byte* address_of(ucp_mem_h memory);

/// Text that a UCX call prints to a FILE: UCX describes its configuration and its transports only that way.
[[nodiscard]] std::string printed(std::function<void(std::FILE*)> const& print);

/// Values by UCX's names without "UCX_": {"RNDV_THRESH", "65536"}.
using ContextSettings = std::map<std::string, std::string, std::less<>>;

/// The configuration as the user's UCX_* variables and ucx.conf have it.
[[nodiscard]] ConfigHandle read_config();

/// A value from UCX's own listing; empty when this UCX has no such setting.
[[nodiscard]] std::string setting(ucp_config_t const& config, std::string_view name);

/// Changes these settings. Returns why that is impossible, or an empty text. Names are looked up in UCX's listing
/// first, because ucp_config_modify() accepts unknown ones without an error.
[[nodiscard]] std::string set(ucp_config_t& config, ContextSettings const& settings);

/// The settings that most change what is measured, for the record: {"ucx_rndv_scheme", "auto"}.
[[nodiscard]] std::map<std::string, std::string, std::less<>> settings_of_interest(ucp_config_t const& config);

[[nodiscard]] ucs_memory_type_t ucx_type_of(MemoryKind kind);

/// Copies and reductions are the device's there, and so is scratch memory.
[[nodiscard]] bool works_on_device(MemoryKind kind);

/// The answer of ucp_context_query for UCP_ATTR_FIELD_MEMORY_TYPES: a bit per ucs_memory_type_t.
class MemoryTypes {
public:
    explicit MemoryTypes(std::uint64_t bits) : bits_(bits) {}
    [[nodiscard]] bool has(MemoryKind kind) const;
    [[nodiscard]] std::string text() const;  // "host cuda cuda-managed"
    /// Why `kind` cannot be used, and how it can; empty when it can. `tls`: the setting UCX_TLS.
    [[nodiscard]] std::string why_no(MemoryKind kind, std::string_view tls) const;

private:
    std::uint64_t bits_;
};

}  // namespace dlmb::ucx
