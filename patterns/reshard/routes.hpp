// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Bytes by sender and receiver, so that every receiver has its part of the weights.
//
// A box is a part of a WeightGroup that the same ranks hold and the same ranks need: one segment each of its layers,
// experts and units. A receiver either holds all of a box already or lacks all of it. So the bytes of the boxes that a
// receiver needs and does not hold are the least that it can receive, and p2p and striped send no more.
#pragma once

#include "patterns/reshard/layout.hpp"
#include "patterns/reshard/weights.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <string_view>
#include <vector>

namespace dlmb::reshard {

/// By world rank: bytes that a rank sends to and receives from it.
struct PeerBytes {
    std::vector<Bytes> sent;
    std::vector<Bytes> received;
};

/// Bytes that `owner` broadcasts to the members of a set, of which it is one.
struct BroadcastBucket {
    Rank owner = 0;
    Bytes bytes = 0;
    std::size_t members = 0;  // index into Broadcasts::sets
};

/// In the order in which all ranks take part.
struct Broadcasts {
    std::vector<BroadcastBucket> buckets;
    std::vector<std::vector<Rank>> sets;  // ascending
};

enum class PieceSenders { one, all };

/// A part of a WeightGroup that one rank sends another one: all elements of these layers, experts and units stand in an
/// order that all ranks agree on; the piece is those in `elements`.
struct WeightPiece {
    Rank from = 0;
    std::size_t group = 0;
    Range layers, experts, units;
    Range elements;
};

class Routes {
public:
    /// Ranks 0 to world - 1; both layouts are among them.
    Routes(std::vector<WeightGroup> const& groups, std::uint64_t layers, ParallelLayout const& from,
           ParallelLayout const& to, Bytes element_bytes, int world);

    /// Least bytes that a rank has to receive: those that it needs and does not hold.
    [[nodiscard]] Bytes lacking(Rank rank) const;

    /// The pieces that a rank receives, so that it has each box that it lacks. PieceSenders::one: the receivers that
    /// lack a box, one behind the other, are cut into equal parts for its holders, which so send equally much; several
    /// holders share a receiver only where their numbers demand it. PieceSenders::all: an equal stripe from each holder
    /// (the P2P mode of MoonshotAI/checkpoint-engine has all replicas send).
    [[nodiscard]] std::vector<WeightPiece> pieces_to(Rank receiver, PieceSenders senders) const;
    /// The bytes of these pieces, and of those that other ranks get from this one.
    [[nodiscard]] PeerBytes peers_of(Rank rank, PieceSenders senders) const;

    /// The owner of a box is the first rank that holds it. It fills buckets of up to `bucket` bytes with what it owns,
    /// of each tensor all units, and broadcasts each to all ranks that lack a part of it (OpenRLHF and veRL broadcast
    /// whole parameters from their owner, checkpoint-engine buckets; a receiver takes its slice). Owners take turns.
    [[nodiscard]] Broadcasts broadcasts(Bytes bucket) const;

private:
    struct TensorGroup {
        Bytes unit_bytes = 0;
        Axis stages;
        Axis experts;
        Axis units;
        /// By box: places in its receivers_of() of those that hold it, ascending.
        std::vector<std::vector<std::size_t>> keepers;
    };
    struct Box {
        TensorGroup const& group;
        Segment const& stages;
        Segment const& experts;
        Segment const& units;
        std::size_t number = 0;  // within its group
        Bytes bytes = 0;

        [[nodiscard]] std::vector<std::size_t> const& keepers() const { return group.keepers[number]; }
    };

    [[nodiscard]] static Box box_at(TensorGroup const& group, std::uint64_t stage, std::uint64_t expert,
                                    std::uint64_t unit);
    [[nodiscard]] RankSet holders_of(Box const& box) const;
    [[nodiscard]] RankSet receivers_of(Box const& box) const;
    [[nodiscard]] std::uint64_t elements_of(Box const& box) const { return box.bytes / element_bytes_; }
    [[nodiscard]] std::size_t lacking_ranks(Box const& box) const {
        return receivers_of(box).size() - box.keepers().size();
    }
    /// The ranks that lack the box by number, in ascending order.
    [[nodiscard]] Rank lacking_rank(Box const& box, std::size_t number) const;
    /// Calls visit(box) for the boxes that a place needs or holds: `of` is one of the members of Axis.
    template <class Visit>
    void for_boxes(Place const& place, std::vector<Range> Axis::*of, Visit const& visit) const;
    /// Calls visit(box, holder, elements) for what a receiver gets.
    template <class Visit>
    void for_pieces(Rank receiver, PieceSenders senders, Visit const& visit) const;
    /// Adds what one holder of a box sends.
    void add_sent(Box const& box, std::size_t holder, PieceSenders senders, std::vector<Bytes>& sent) const;
    void find_keepers();
    /// Bytes and receivers of what each owner has, in the order of groups.
    struct Owned {
        Bytes bytes = 0;
        std::vector<Rank> receivers;
    };
    [[nodiscard]] std::map<Rank, std::vector<Owned>> owned() const;

    std::vector<TensorGroup> groups_;
    ParallelLayout from_;
    ParallelLayout to_;
    Bytes element_bytes_;
    std::size_t world_;
};

}  // namespace dlmb::reshard
