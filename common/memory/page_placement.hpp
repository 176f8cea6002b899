// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Where host memory really lies, asked of the kernel after it was touched.
#pragma once

#include "common/base/units.hpp"

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

}  // namespace dlmb
