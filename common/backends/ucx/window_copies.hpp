// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// How a rank writes large copies into its window, where the memory that they replace lies in the caches of those who
// read it last.
#pragma once

#include <cstdint>
#include <string_view>

namespace dlmb::ucx {

/// cached: as any copy, through the caches; better between cores that are near to each other. streamed: past them;
/// better where taking a line back from another core's cache costs much.
enum class WindowCopies : std::uint8_t { cached, streamed };

[[nodiscard]] constexpr std::string_view name_of(WindowCopies copies) {
    return copies == WindowCopies::cached ? "cached" : "streamed";
}

}  // namespace dlmb::ucx
