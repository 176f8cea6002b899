// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Ordinary memory of the process. Every allocation is its own mapping, aligned to 2 MiB so that huge pages can back it,
// and its pages are placed by whoever touches them first: the rank that fills them.
#pragma once

#include "common/base/units.hpp"
#include "common/memory/memory_space.hpp"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <span>

namespace dlmb {

struct PagePlacement {
    std::uint64_t sampled = 0;    // pages that the kernel told the node of; 0 where it may not be asked
    std::uint64_t elsewhere = 0;  // of these on other nodes than the wanted ones
    bool operator==(PagePlacement const&) const = default;
};

/// Asks for `most` pages spread evenly over `bytes` at `data` with move_pages(2), which then moves nothing. An empty
/// list of wanted NUMA nodes: none is elsewhere.
[[nodiscard]] PagePlacement sample_pages(std::byte const* data, Bytes bytes, std::span<int const> wanted_nodes,
                                         std::size_t most);

/// Anonymous memory of this process that lies in huge pages (AnonHugePages of /proc/self/smaps_rollup); 0 also where
/// the kernel does not say.
[[nodiscard]] Bytes huge_page_bytes();

/// Bytes that this node, and the control groups that this process is in, can still give: the kernel's own estimate
/// (MemAvailable) and what a limit leaves, page cache that can be dropped counted as free. 0: unknown. `root` stands
/// for "/".
[[nodiscard]] Bytes available_host_memory(std::filesystem::path const& root = "/");

/// Bytes that this process may still map (ulimit -v and -d). 0: there is no limit.
[[nodiscard]] Bytes mappable_memory(std::filesystem::path const& root = "/");

inline constexpr Bytes host_alignment = Bytes{2} << 20;

[[nodiscard]] Allocation allocate_host(Bytes bytes);
void release_host(std::byte* data, Bytes bytes);

class HostSpace : public MemorySpace {
public:
    [[nodiscard]] MemoryKind kind() const override { return MemoryKind::host; }
    [[nodiscard]] Allocation allocate(Bytes bytes) override { return allocate_host(bytes); }
    void fill(std::byte* data, Bytes bytes, PayloadKey key, Bytes start = 0) override {
        fill_payload(data, bytes, key, start);
    }
    [[nodiscard]] std::optional<Mismatch> check(std::byte const* data, Bytes bytes, PayloadKey key,
                                                Bytes start = 0) override {
        return check_payload(data, bytes, key, start);
    }
    void copy_in(std::byte* to, std::byte const* from_host, Bytes bytes) override { std::copy_n(from_host, bytes, to); }
    void copy_out(std::byte* to_host, std::byte const* from, Bytes bytes) override {
        std::copy_n(from, bytes, to_host);
    }
};

}  // namespace dlmb
