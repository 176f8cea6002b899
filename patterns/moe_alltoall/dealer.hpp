// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Balanced routing: experts are dealt from shuffled decks. Each deck holds every expert once, so all experts of a
// source get the same count wherever tokens * top_k is a multiple of the experts, while each token's set is random.
#pragma once

#include "common/base/philox.hpp"
#include "patterns/moe_alltoall/params.hpp"
#include "patterns/moe_alltoall/race.hpp"

#include <cstddef>
#include <span>
#include <vector>

namespace dlmb::moe_alltoall {

/// Cards 0 .. size - 1, shuffled anew each time all are dealt. A hand never holds one card twice.
class Deck {
public:
    explicit Deck(std::size_t size);
    /// Appends `count` <= size different cards to an empty or longer vector.
    void deal(std::size_t count, RandomSequence& random, std::vector<std::size_t>& hand);

private:
    std::vector<std::size_t> cards_;
    std::size_t dealt_ = 0;
};

class Dealer {
public:
    Dealer(Params const& params, RoutingKey key);

    /// Experts of the next token. With a group limit, groups are dealt from a deck of groups, and experts inside each
    /// dealt group from that group's deck, top_k shared evenly. Valid until the next call.
    [[nodiscard]] std::span<std::size_t const> next();

private:
    std::size_t top_k_;
    std::size_t group_limit_;
    std::size_t group_size_;
    RandomSequence group_random_;
    RandomSequence expert_random_;
    Deck groups_;
    std::vector<Deck> experts_;  // one per group
    std::vector<std::size_t> chosen_groups_;
    std::vector<std::size_t> chosen_;
};

}  // namespace dlmb::moe_alltoall
