// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Steps as messages and tags, for simulators and formats that know nothing else.
#pragma once

#include "common/formats/plan/plan_source.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <vector>

namespace dlmb {

/// One end of a message.
struct Message {
    bool sends = false;
    Rank peer = 0;  // world rank, never the rank itself
    Bytes bytes = 0;
    std::uint64_t tag =
        0;          // from 1 to most_message_tag; no other message between the two ranks in this direction has it
    int round = 0;  // it starts after those of its step that have a lower one
    bool operator==(Message const&) const = default;
};

/// Readers keep a tag in 31 bits, and some take -1 for any.
inline constexpr std::uint64_t most_message_tag = (std::uint64_t{1} << 31U) - 1;

/// Lowers steps to messages, for plans that validate() accepts. Bytes to self are left out. Each collective is one
/// plain algorithm; what a library would really do is not modelled:
///   exchange, all_gather      linear: one message per pair of ranks, all posted together, the next rank first
///   gather, reduce            linear: one message from each rank to the root
///   scatter, broadcast        linear: one message from the root to each rank
///   reduce_scatter            ring, ranks - 1 rounds
///   all_reduce                ring reduce-scatter, then ring all-gather
///   barrier                   dissemination: in round k a byte to the rank 2^k further on
///   put, wait_signal          a message per block, and one of flag_bytes per signal
///   offer, get                the same, and then one of flag_bytes back
/// Parts without bytes make no message; a Send of 0 bytes does. A Compute has none.
class Messages {
public:
    /// Asks for each plan once, for the tags. Throws UsageError where they do not suffice.
    explicit Messages(PlanSource const& plans);

    /// Gives `visit` the messages of each step, in the order of the plan.
    void each(Plan const& plan, std::function<void(StepId, std::span<Message const>)> const& visit) const;

    /// By step of the plan: the first tag of a collective, the same on all members and that of nothing else; 0 where it
    /// is none.
    [[nodiscard]] std::vector<std::uint64_t> tags_of(Plan const& plan) const;
    /// Numbers of the groups that have collectives, by their members: 0, 1, ... in the order of the members.
    [[nodiscard]] std::map<std::vector<Rank>, std::size_t> group_numbers() const;

private:
    struct GroupTags {
        std::uint64_t first = 0;
        std::uint64_t count = 0;
    };
    std::map<int, std::uint64_t> channels_;               // first tag of the messages of a channel
    std::map<std::vector<Rank>, GroupTags> collectives_;  // by members
};

/// The part of an allreduce that a ring of `ranks` moves as one: the first (elements mod ranks) have one element more.
[[nodiscard]] Bytes ring_chunk(Collective const& step, Bytes ranks, Rank chunk);

}  // namespace dlmb
