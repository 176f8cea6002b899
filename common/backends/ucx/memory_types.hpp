// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// The kinds of memory that a UCX context reads and writes, in UCX's words and in ours.
#pragma once

#include "common/memory/memory_space.hpp"

#include <ucs/memory/memory_type.h>

#include <cstdint>
#include <string>

namespace dlmb::ucx {

[[nodiscard]] ucs_memory_type_t ucx_type_of(MemoryKind kind);

/// Copies and reductions are the device's there, and so is scratch memory.
[[nodiscard]] bool works_on_device(MemoryKind kind);

/// What ucp_context_query answers for UCP_ATTR_FIELD_MEMORY_TYPES: a bit per ucs_memory_type_t.
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
