// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// What goes through the windows of a node's ranks and what by messages, and how large copies into a window are written.
#pragma once

#include "common/base/units.hpp"

#include <limits>
#include <string_view>

namespace dlmb::ucx {

/// How a rank writes large copies into its window, where the memory that they replace lies in the caches of those who
/// read it last. cached: as any copy, through the caches; better between cores that are near to each other. streamed:
/// past them; better where taking a line back from another core's cache costs much.
enum class WindowCopies : std::uint8_t { cached, streamed };

[[nodiscard]] constexpr std::string_view name_of(WindowCopies copies) {
    return copies == WindowCopies::cached ? "cached" : "streamed";
}

struct WindowUse {
    static constexpr Bytes never = std::numeric_limits<Bytes>::max();

    WindowCopies copies = WindowCopies::streamed;
    /// Blocks of so many bytes are messages, which the kernel copies once and not twice; smaller ones go through
    /// windows, without a system call. Of exchanges, and between two ranks of allgathers and broadcasts.
    Bytes messages_from = never;

    bool operator==(WindowUse const&) const = default;
};

}  // namespace dlmb::ucx
