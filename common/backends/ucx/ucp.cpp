// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/backends/ucx/ucp.hpp"

#include <fmt/core.h>

#include <cstdlib>
#include <sstream>

namespace dlmb::ucx {

void check(ucs_status_t status, std::string_view call, Where where) {
    if (status != UCS_OK) {
        throw Error(fmt::format("ucx: {}: {}", call, ucs_status_string(status)), where);
    }
}

namespace {

MappedMemory mapped(ucp_context_h context, std::byte* data, Bytes bytes, unsigned flags) {
    ucp_mem_map_params_t params{};
    params.field_mask =
        UCP_MEM_MAP_PARAM_FIELD_ADDRESS | UCP_MEM_MAP_PARAM_FIELD_LENGTH | UCP_MEM_MAP_PARAM_FIELD_FLAGS;
    params.address = data;
    params.length = bytes;
    params.flags = flags;
    ucp_mem_h memory = nullptr;
    check(ucp_mem_map(context, &params, &memory), fmt::format("ucp_mem_map({} B)", bytes));
    return {memory, UnmapMemory{context}};
}

}  // namespace

MappedMemory map_memory(ucp_context_h context, std::byte* data, Bytes bytes) {
    return mapped(context, data, bytes, 0);
}

MappedMemory allocate_mapped(ucp_context_h context, Bytes bytes) {
    return mapped(context, nullptr, bytes, UCP_MEM_MAP_ALLOCATE);
}

std::byte* address_of(ucp_mem_h memory) {
    ucp_mem_attr_t attributes{};
    attributes.field_mask = UCP_MEM_ATTR_FIELD_ADDRESS;
    check(ucp_mem_query(memory, &attributes), "ucp_mem_query");
    return static_cast<std::byte*>(attributes.address);
}

std::string printed(std::function<void(std::FILE*)> const& print) {
    char* text = nullptr;
    std::size_t size = 0;
    std::FILE* const stream = open_memstream(&text, &size);
    if (stream == nullptr) {
        throw Error("ucx: open_memstream: no memory for UCX's description");
    }
    print(stream);
    std::fclose(stream);  // writes text and size
    std::unique_ptr<char, void (*)(void*)> const owner(text, std::free);
    return {text, size};
}

ConfigHandle read_config() {
    ucp_config_t* config = nullptr;
    check(ucp_config_read(nullptr, nullptr, &config), "ucp_config_read");
    return ConfigHandle(config);
}

std::string setting(ucp_config_t const& config, std::string_view name) {
    std::istringstream listing(
        printed([&](std::FILE* out) { ucp_config_print(&config, out, nullptr, UCS_CONFIG_PRINT_CONFIG); }));
    std::string const wanted = "UCX_" + std::string(name) + "=";
    for (std::string line; std::getline(listing, line);) {
        if (line.rfind(wanted, 0) == 0) {
            return line.substr(wanted.size());
        }
    }
    return {};
}

std::string set(ucp_config_t& config, ContextSettings const& settings) {
    for (auto const& [name, value] : settings) {
        if (setting(config, name).empty()) {
            return fmt::format("UCX {} has no setting UCX_{}", ucp_get_version_string(), name);
        }
        ucs_status_t const status = ucp_config_modify(&config, name.c_str(), value.c_str());
        if (status != UCS_OK) {
            return fmt::format("UCX {} does not take {} for UCX_{}: {}", ucp_get_version_string(), value, name,
                               ucs_status_string(status));
        }
    }
    return {};
}

std::map<std::string, std::string, std::less<>> settings_of_interest(ucp_config_t const& config) {
    return {{"ucx_tls", setting(config, "TLS")},
            {"ucx_rndv_scheme", setting(config, "RNDV_SCHEME")},
            {"ucx_rndv_thresh", setting(config, "RNDV_THRESH")},
            {"ucx_zcopy_thresh", setting(config, "ZCOPY_THRESH")}};
}

ucs_memory_type_t ucx_type_of(MemoryKind kind) {
    switch (kind) {
    case MemoryKind::cuda:
    case MemoryKind::nccl:
        return UCS_MEMORY_TYPE_CUDA;
    case MemoryKind::managed:
        return UCS_MEMORY_TYPE_CUDA_MANAGED;
    case MemoryKind::host:
    case MemoryKind::pinned:
    case MemoryKind::ucx:
        break;
    }
    return UCS_MEMORY_TYPE_HOST;
}

bool works_on_device(MemoryKind kind) {
    return ucx_type_of(kind) != UCS_MEMORY_TYPE_HOST;
}

bool MemoryTypes::has(MemoryKind kind) const {
    return !works_on_device(kind) || (bits_ & (std::uint64_t{1} << ucx_type_of(kind))) != 0;
}

std::string MemoryTypes::text() const {
    std::string names;
    for (int type = 0; type < UCS_MEMORY_TYPE_LAST; ++type) {
        if ((bits_ & (std::uint64_t{1} << type)) != 0) {
            names += names.empty() ? "" : " ";
            names += ucs_memory_type_names[type];
        }
    }
    return names;
}

std::string MemoryTypes::why_no(MemoryKind kind, std::string_view tls) const {
    if (has(kind)) {
        return {};
    }
    // A user's list of transports without cuda takes the memory away from a UCX that has it.
    std::string const restricted = tls == "all" ? "" : fmt::format(" with UCX_TLS={}, which must include cuda,", tls);
    return fmt::format("this UCX{} knows {} memory only; it must be built with CUDA and find the driver, as the one in "
                       "the Python wheels libucx-cu13 and libucx-cu12: configure with -Ducx_ROOT=FOLDER/libucx",
                       restricted, text());
}

}  // namespace dlmb::ucx
