// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Finds plans that would hang over NCCL. Each rank enqueues all its communication on one stream, so ranks that make the
// same calls in different orders wait for each other for ever. A hand-written plan can do that, and so can a trace that
// had several streams. validate() plays the steps of complete plans by what they wait for; this plays the calls that
// the backend makes of them. Cold: runs in compile().
#pragma once

#include "common/backends/nccl/translate.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace dlmb::nccl {

/// One message, signal or wait of a call with one other rank, or a collective. The parts of an item start together, and
/// the item is complete when all its parts are. A send or a receive is complete when its other end has started, a wait
/// when its signal has, a signal at once, a collective when all members have started it.
struct CallPart {
    enum class Kind : std::uint32_t { send, receive, signal, wait, collective };
    Kind kind = Kind::send;
    std::uint32_t item = 0;     // the items of a rank ascend
    std::uint32_t members = 0;  // of a collective
    std::uint64_t whom = 0;     // the rank in the world; of a collective: the same number for the same members
};

/// The parts of this rank's items. A computation has none, because it waits for no other rank. `ranks`: of the world.
[[nodiscard]] std::vector<CallPart> parts_of(Plan const& plan, std::vector<Item> const& items,
                                             CommunicatorLookup const& communicators, int ranks);

/// For each rank the item that it never completes, or nothing. `parts`: those of each rank.
[[nodiscard]] std::vector<std::optional<std::uint32_t>> deadlocked(std::vector<std::vector<CallPart>> const& parts);

/// Collective. Why this rank would hang. Empty: it ends, or all ranks together have more than 2^22 parts, which are not
/// played.
[[nodiscard]] std::string why_deadlocked(Plan const& plan, std::vector<Item> const& items,
                                         CommunicatorLookup const& communicators, Bootstrap& bootstrap);

}  // namespace dlmb::nccl
