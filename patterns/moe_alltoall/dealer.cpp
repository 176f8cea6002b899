// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "patterns/moe_alltoall/dealer.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace dlmb::moe_alltoall {

Deck::Deck(std::size_t size) : cards_(size) {
    std::iota(cards_.begin(), cards_.end(), std::size_t{0});
}

void Deck::deal(std::size_t count, RandomSequence& random, std::vector<std::size_t>& hand) {
    auto const first = static_cast<std::ptrdiff_t>(hand.size());
    bool reshuffled = false;
    for (std::size_t i = 0; i < count; ++i) {
        if (dealt_ == cards_.size()) {
            dealt_ = 0;
            reshuffled = true;
        }
        std::size_t const left = cards_.size() - dealt_;
        std::size_t pick = dealt_ + below(random.next(), static_cast<std::uint32_t>(left));
        // Only a hand that spans two decks can meet a card it holds; it takes the next one of the deck instead.
        while (reshuffled && std::find(hand.begin() + first, hand.end(), cards_[pick]) != hand.end()) {
            pick = pick + 1 < cards_.size() ? pick + 1 : dealt_;
        }
        std::swap(cards_[dealt_], cards_[pick]);
        hand.push_back(cards_[dealt_]);
        ++dealt_;
    }
}

Dealer::Dealer(Params const& params, RoutingKey key)
    : top_k_(params.top_k), group_limit_(params.group_limited() ? params.group_limit : 1),
      group_size_(params.group_limited() ? params.experts / params.expert_groups : params.experts),
      group_random_(key.seed, key.draw, key.source, stream_id(Purpose::group_deck, key.layer)),
      expert_random_(key.seed, key.draw, key.source, stream_id(Purpose::expert_deck, key.layer)),
      groups_(params.experts / group_size_), experts_(params.experts / group_size_, Deck(group_size_)) {}

std::span<std::size_t const> Dealer::next() {
    chosen_groups_.clear();
    groups_.deal(group_limit_, group_random_, chosen_groups_);
    chosen_.clear();
    for (std::size_t i = 0; i < group_limit_; ++i) {
        std::size_t const group = chosen_groups_[i];
        std::size_t const share = top_k_ / group_limit_ + (i < top_k_ % group_limit_ ? 1 : 0);
        std::size_t const first = chosen_.size();
        experts_[group].deal(share, expert_random_, chosen_);
        for (std::size_t j = first; j < chosen_.size(); ++j) {
            chosen_[j] += group * group_size_;
        }
    }
    return chosen_;
}

}  // namespace dlmb::moe_alltoall
