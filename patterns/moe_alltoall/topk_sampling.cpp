// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "patterns/moe_alltoall/topk_sampling.hpp"

#include "common/base/exact_math.hpp"
#include "common/base/philox.hpp"

#include <algorithm>
#include <limits>

namespace dlmb::moe_alltoall {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

}  // namespace

TopkSampling::TopkSampling(Params const& params, std::vector<double> const& weights, RoutingKey key)
    : top_k_(params.top_k), groups_(params.expert_groups), group_limit_(params.group_limit),
      group_score_(params.group_score), key_(key), words_((weights.size() + 3) / 4 * 4), least_scores_(weights.size()) {
    inverse_weights_.reserve(weights.size());
    for (double const weight : weights) {
        inverse_weights_.push_back(1 / weight);
    }
}

std::span<std::size_t const> TopkSampling::next() {
    draw_words();
    best_.assign(top_k_, {infinity, 0});
    if (group_limit_ == groups_) {
        scan(0, inverse_weights_.size());
    } else {
        choose_groups();
        std::size_t const size = inverse_weights_.size() / groups_;
        for (std::size_t i = 0; i < group_limit_; ++i) {
            std::size_t const group = group_order_[i].expert;
            scan(group * size, (group + 1) * size);
        }
    }
    chosen_.clear();
    for (Scored const& each : best_) {
        chosen_.push_back(each.expert);
    }
    return chosen_;
}

void TopkSampling::draw_words() {
    auto const blocks = static_cast<std::uint32_t>(words_.size() / 4);
    for (std::uint32_t block = 0; block < blocks; ++block) {
        PhiloxBlock const four =
            philox({key_.draw, token_, key_.source, stream_id(Purpose::topk_sampling, key_.layer, block)}, key_.seed);
        std::copy(four.begin(), four.end(), words_.begin() + std::ptrdiff_t{4} * block);
    }
    ++token_;
    // -ln(u) > 1 - u, so most experts are ruled out without a logarithm. The gap is at least (1 - u)^2 / 2 with
    // 1 - u >= 2^-33, far above rounding, so the outcome is that of comparing scores only.
    for (std::size_t expert = 0; expert < least_scores_.size(); ++expert) {
        least_scores_[expert] = (1 - to_unit(words_[expert])) * inverse_weights_[expert];
    }
}

double TopkSampling::score_of(std::size_t expert) const {
    return -exact::log(to_unit(words_[expert])) * inverse_weights_[expert];
}

/// Keeps the top_k lowest scores; of equal scores the lower expert, which comes first, stays ahead.
void TopkSampling::scan(std::size_t begin, std::size_t end) {
    for (std::size_t expert = begin; expert < end; ++expert) {
        if (least_scores_[expert] >= best_.back().score) {
            continue;
        }
        double const score = score_of(expert);
        if (score >= best_.back().score) {
            continue;
        }
        auto const position = std::upper_bound(best_.begin(), best_.end(), score,
                                               [](double value, Scored const& each) { return value < each.score; });
        std::move_backward(position, best_.end() - 1, best_.end());
        *position = {score, expert};
    }
}

/// Score of the group's best expert, or the sum of its two best.
double TopkSampling::group_score(std::size_t group) const {
    std::size_t const size = inverse_weights_.size() / groups_;
    double best = infinity;
    double second = infinity;
    for (std::size_t expert = group * size; expert < (group + 1) * size; ++expert) {
        double const limit = group_score_ == GroupScore::best ? best : second;
        if (least_scores_[expert] >= limit) {
            continue;
        }
        double const score = score_of(expert);
        if (score < best) {
            second = best;
            best = score;
        } else if (score < second) {
            second = score;
        }
    }
    return group_score_ == GroupScore::best || size == 1 ? best : best + second;
}

void TopkSampling::choose_groups() {
    group_order_.clear();
    for (std::size_t group = 0; group < groups_; ++group) {
        group_order_.push_back({group_score(group), group});
    }
    std::stable_sort(group_order_.begin(), group_order_.end(),
                     [](Scored const& a, Scored const& b) { return a.score < b.score; });
    // Ascending groups, so that ties between experts are broken by index in scan().
    std::sort(group_order_.begin(), group_order_.begin() + static_cast<std::ptrdiff_t>(group_limit_),
              [](Scored const& a, Scored const& b) { return a.expert < b.expert; });
}

}  // namespace dlmb::moe_alltoall
