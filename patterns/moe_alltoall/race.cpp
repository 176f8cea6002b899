// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "patterns/moe_alltoall/race.hpp"

#include "common/base/exact_math.hpp"
#include "common/base/philox.hpp"

#include <algorithm>
#include <limits>

namespace dlmb::moe_alltoall {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

}  // namespace

Race::Race(Params const& params, std::vector<double> const& weights, RoutingKey key)
    : top_k_(params.top_k), groups_(params.expert_groups), group_limit_(params.group_limit),
      group_score_(params.group_score), key_(key), words_((weights.size() + 3) / 4 * 4), earliest_(weights.size()) {
    inverse_weights_.reserve(weights.size());
    for (double const weight : weights) {
        inverse_weights_.push_back(1 / weight);
    }
}

std::span<std::size_t const> Race::next() {
    throw_dice();
    first_.assign(top_k_, {infinity, 0});
    if (group_limit_ == groups_) {
        run(0, inverse_weights_.size());
    } else {
        choose_groups();
        std::size_t const size = inverse_weights_.size() / groups_;
        for (std::size_t i = 0; i < group_limit_; ++i) {
            std::size_t const group = group_order_[i].expert;
            run(group * size, (group + 1) * size);
        }
    }
    chosen_.clear();
    for (Runner const& runner : first_) {
        chosen_.push_back(runner.expert);
    }
    return chosen_;
}

void Race::throw_dice() {
    auto const blocks = static_cast<std::uint32_t>(words_.size() / 4);
    for (std::uint32_t block = 0; block < blocks; ++block) {
        PhiloxBlock const four =
            philox({key_.draw, token_, key_.source, stream_id(Purpose::race, key_.layer, block)}, key_.seed);
        std::copy(four.begin(), four.end(), words_.begin() + std::ptrdiff_t{4} * block);
    }
    ++token_;
    // -ln(u) > 1 - u, so most experts are turned away without a logarithm. The gap is at least (1 - u)^2 / 2 with
    // 1 - u >= 2^-33, far above rounding, so the outcome is that of comparing arrivals only.
    for (std::size_t expert = 0; expert < earliest_.size(); ++expert) {
        earliest_[expert] = (1 - to_unit(words_[expert])) * inverse_weights_[expert];
    }
}

double Race::arrival(std::size_t expert) const {
    return -exact::log(to_unit(words_[expert])) * inverse_weights_[expert];
}

/// Keeps the top_k earliest; of equal times the lower expert, which comes first, stays ahead.
void Race::run(std::size_t begin, std::size_t end) {
    for (std::size_t expert = begin; expert < end; ++expert) {
        if (earliest_[expert] >= first_.back().time) {
            continue;
        }
        double const time = arrival(expert);
        if (time >= first_.back().time) {
            continue;
        }
        auto const place = std::upper_bound(first_.begin(), first_.end(), time,
                                            [](double value, Runner const& runner) { return value < runner.time; });
        std::move_backward(place, first_.end() - 1, first_.end());
        *place = {time, expert};
    }
}

/// Arrival of the group's best expert, or the sum of its two best.
double Race::group_time(std::size_t group) const {
    std::size_t const size = inverse_weights_.size() / groups_;
    double best = infinity;
    double second = infinity;
    for (std::size_t expert = group * size; expert < (group + 1) * size; ++expert) {
        double const limit = group_score_ == GroupScore::best ? best : second;
        if (earliest_[expert] >= limit) {
            continue;
        }
        double const time = arrival(expert);
        if (time < best) {
            second = best;
            best = time;
        } else if (time < second) {
            second = time;
        }
    }
    return group_score_ == GroupScore::best || size == 1 ? best : best + second;
}

void Race::choose_groups() {
    group_order_.clear();
    for (std::size_t group = 0; group < groups_; ++group) {
        group_order_.push_back({group_time(group), group});
    }
    std::stable_sort(group_order_.begin(), group_order_.end(),
                     [](Runner const& a, Runner const& b) { return a.time < b.time; });
    // Ascending groups, so that ties between experts are broken by index in run().
    std::sort(group_order_.begin(), group_order_.begin() + static_cast<std::ptrdiff_t>(group_limit_),
              [](Runner const& a, Runner const& b) { return a.expert < b.expert; });
}

}  // namespace dlmb::moe_alltoall
