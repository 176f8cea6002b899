// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/memory/host_space.hpp"

#include "common/base/error.hpp"

#include <fmt/core.h>

#include <cerrno>
#include <cstring>
#include <limits>
#include <sys/mman.h>

namespace dlmb {
namespace {

[[noreturn]] void out_of_memory(Bytes bytes, int code) {
    throw Error(fmt::format("host memory: cannot allocate {} B ({}): {}; use smaller sizes or fewer ranks per node",
                            bytes, human_bytes(bytes), std::strerror(code)));
}

/// What munmap gets back: the mapping of an allocation of `bytes`.
Bytes mapped_bytes(Bytes bytes) {
    return (bytes + host_alignment - 1) / host_alignment * host_alignment;
}

/// Maps one alignment too much and gives back what lies before and behind the aligned part.
std::byte* map_aligned(Bytes bytes) {
    Bytes const length = bytes + host_alignment;
    void* const mapping = mmap(nullptr, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mapping == MAP_FAILED) {  // NOLINT(performance-no-int-to-ptr,cppcoreguidelines-pro-type-cstyle-cast): the macro
        out_of_memory(bytes, errno);
    }
    auto* const start = static_cast<std::byte*>(mapping);
    Bytes const before = (host_alignment - reinterpret_cast<std::uintptr_t>(mapping) % host_alignment) % host_alignment;
    if (before > 0) {
        munmap(start, before);
    }
    munmap(start + before + bytes, host_alignment - before);
    return start + before;
}

}  // namespace

Allocation allocate_host(Bytes bytes) {
    if (bytes == 0) {
        return {};
    }
    if (bytes > std::numeric_limits<Bytes>::max() - 2 * host_alignment) {
        out_of_memory(bytes, ENOMEM);
    }
    return {map_aligned(mapped_bytes(bytes)), bytes, release_host};
}

void release_host(std::byte* data, Bytes bytes) {
    munmap(data, mapped_bytes(bytes));
}

Allocation HostSpace::allocate(Bytes bytes) {
    return allocate_host(bytes);
}

void HostSpace::fill(std::byte* data, Bytes bytes, PayloadKey key, Bytes start) {
    fill_payload(data, bytes, key, start);
}

std::optional<Mismatch> HostSpace::check(std::byte const* data, Bytes bytes, PayloadKey key, Bytes start) {
    return check_payload(data, bytes, key, start);
}

void HostSpace::copy_in(std::byte* to, std::byte const* from_host, Bytes bytes) {
    if (bytes > 0) {
        std::memcpy(to, from_host, bytes);
    }
}

void HostSpace::copy_out(std::byte* to_host, std::byte const* from, Bytes bytes) {
    if (bytes > 0) {
        std::memcpy(to_host, from, bytes);
    }
}

}  // namespace dlmb
