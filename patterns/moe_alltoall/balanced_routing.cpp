// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "patterns/moe_alltoall/balanced_routing.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace dlmb::moe_alltoall {

ShuffledList::ShuffledList(std::size_t size) : values_(size) {
    std::iota(values_.begin(), values_.end(), std::size_t{0});
}

void ShuffledList::take(std::size_t count, RandomSequence& random, std::vector<std::size_t>& result) {
    auto const first = static_cast<std::ptrdiff_t>(result.size());
    bool reshuffled = false;
    for (std::size_t i = 0; i < count; ++i) {
        if (used_ == values_.size()) {
            used_ = 0;
            reshuffled = true;
        }
        std::size_t const left = values_.size() - used_;
        std::size_t pick = used_ + below(random.next(), static_cast<std::uint32_t>(left));
        // After a new shuffle a value may be in the result already; then the next one of the list is.
        while (reshuffled && std::find(result.begin() + first, result.end(), values_[pick]) != result.end()) {
            pick = pick + 1 < values_.size() ? pick + 1 : used_;
        }
        std::swap(values_[used_], values_[pick]);
        result.push_back(values_[used_]);
        ++used_;
    }
}

BalancedRouting::BalancedRouting(Params const& params, RoutingKey key)
    : top_k_(params.top_k), group_limit_(params.group_limited() ? params.group_limit : 1),
      group_size_(params.group_limited() ? params.experts / params.expert_groups : params.experts),
      group_random_(key.seed, key.draw, key.source, stream_id(Purpose::balanced_groups, key.layer)),
      expert_random_(key.seed, key.draw, key.source, stream_id(Purpose::balanced_experts, key.layer)),
      groups_(params.experts / group_size_), experts_(params.experts / group_size_, ShuffledList(group_size_)) {}

std::span<std::size_t const> BalancedRouting::next() {
    chosen_groups_.clear();
    groups_.take(group_limit_, group_random_, chosen_groups_);
    chosen_.clear();
    for (std::size_t i = 0; i < group_limit_; ++i) {
        std::size_t const group = chosen_groups_[i];
        std::size_t const share = top_k_ / group_limit_ + (i < top_k_ % group_limit_ ? 1 : 0);
        std::size_t const first = chosen_.size();
        experts_[group].take(share, expert_random_, chosen_);
        for (std::size_t j = first; j < chosen_.size(); ++j) {
            chosen_[j] += group * group_size_;
        }
    }
    return chosen_;
}

}  // namespace dlmb::moe_alltoall
