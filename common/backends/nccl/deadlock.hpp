// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Whether what all ranks enqueue comes to an end. Everything that communicates follows each other on one stream, so
// that ranks which take the same calls in different orders wait for each other for ever. Plans of hand-written files
// and of traces with several streams can be so; patterns are not. Cold: runs in compile().
#pragma once

#include "common/backends/nccl/translate.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace dlmb::nccl {

/// What a call of this rank does with one other rank, or that it is a collective. The parts of an item start together,
/// and it is complete when all are: a send or a receive when its other end has started, a wait when the signal has, a
/// signal at once, a collective when all members have started theirs.
struct CallPart {
    enum class Kind : std::uint32_t { send, receive, signal, wait, collective };
    Kind kind = Kind::send;
    std::uint32_t item = 0;     // the items of a rank ascend
    std::uint32_t members = 0;  // of a collective
    std::uint64_t whom = 0;     // the rank in the world; of a collective: the same number for the same members
};

/// Of this rank's items but computations, which wait for nobody else; in a world of so many ranks.
[[nodiscard]] std::vector<CallPart> parts_of(Plan const& plan, std::vector<Item> const& items,
                                             CommunicatorLookup const& communicators, int ranks);

/// By rank: the item at which it stands still, or nothing. `parts`: of each rank.
[[nodiscard]] std::vector<std::optional<std::uint32_t>> deadlocked(std::vector<std::vector<CallPart>> const& parts);

/// Collective. Why this rank never ends; empty: it does, or there are too many parts to look at.
[[nodiscard]] std::string why_deadlocked(Plan const& plan, std::vector<Item> const& items,
                                         CommunicatorLookup const& communicators, Bootstrap& bootstrap);

}  // namespace dlmb::nccl
