// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/backends/ucx/memory_types.hpp"

#include <fmt/core.h>

namespace dlmb::ucx {

ucs_memory_type_t ucx_type_of(MemoryKind kind) {
    switch (kind) {
    case MemoryKind::cuda:
    case MemoryKind::nccl:
        return UCS_MEMORY_TYPE_CUDA;
    case MemoryKind::managed:
        return UCS_MEMORY_TYPE_CUDA_MANAGED;
    case MemoryKind::host:
    case MemoryKind::pinned:
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
