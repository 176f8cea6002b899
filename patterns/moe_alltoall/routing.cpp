// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "patterns/moe_alltoall/routing.hpp"

#include "common/base/exact_math.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

namespace dlmb::moe_alltoall {
namespace {

/// Where in the random numbers a source's routing of one layer is.
struct RoutingKey {
    std::uint64_t seed = 1;
    std::uint32_t draw = 0;
    std::uint32_t source = 0;
    std::uint32_t layer = 0;
};

/// The values 0 .. size - 1, shuffled anew each time all are taken.
class ShuffledList {
public:
    explicit ShuffledList(std::size_t size) : values_(size) {
        std::iota(values_.begin(), values_.end(), std::size_t{0});
    }

    /// Appends `count` <= size values, which differ from each other.
    void take(std::size_t count, RandomSequence& random, std::vector<std::size_t>& result) {
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

private:
    std::vector<std::size_t> values_;
    std::size_t used_ = 0;
};

/// Experts are taken from shuffled lists that hold every expert once. So all experts of a source get the same count
/// wherever tokens * top_k is a multiple of the experts, while each token's set is random. With a group limit, groups
/// are taken from a list of groups, and experts from the list of each group, top_k shared evenly.
class BalancedRouting {
public:
    BalancedRouting(Params const& params, RoutingKey key)
        : top_k_(params.top_k), group_limit_(params.group_limited() ? params.group_limit : 1),
          group_size_(params.group_limited() ? params.experts / params.expert_groups : params.experts),
          group_random_(key.seed, key.draw, key.source, stream_id(Purpose::balanced_groups, key.layer)),
          expert_random_(key.seed, key.draw, key.source, stream_id(Purpose::balanced_experts, key.layer)),
          groups_(params.experts / group_size_), experts_(params.experts / group_size_, ShuffledList(group_size_)) {}

    /// Experts of the next token. Valid until the next call.
    [[nodiscard]] std::span<std::size_t const> next() {
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

private:
    std::size_t top_k_;
    std::size_t group_limit_;
    std::size_t group_size_;
    RandomSequence group_random_;
    RandomSequence expert_random_;
    ShuffledList groups_;
    std::vector<ShuffledList> experts_;  // one per group
    std::vector<std::size_t> chosen_groups_;
    std::vector<std::size_t> chosen_;
};

constexpr double infinity = std::numeric_limits<double>::infinity();

/// Top-k experts of a token, drawn by weight without replacement: expert e gets the score -ln(u) / w_e, and the k
/// lowest scores win. With equal weights every set of k is equally likely.
class TopkSampling {
public:
    TopkSampling(Params const& params, std::vector<double> const& weights, RoutingKey key)
        : top_k_(params.top_k), groups_(params.expert_groups), group_limit_(params.group_limit),
          group_score_(params.group_score), key_(key), words_((weights.size() + 3) / 4 * 4),
          least_scores_(weights.size()) {
        inverse_weights_.reserve(weights.size());
        for (double const weight : weights) {
            inverse_weights_.push_back(1 / weight);
        }
    }

    /// Experts of the next token, lowest score first. Valid until the next call.
    [[nodiscard]] std::span<std::size_t const> next() {
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

private:
    struct Scored {
        double score;
        std::size_t expert;
    };

    void draw_words() {
        auto const blocks = static_cast<std::uint32_t>(words_.size() / 4);
        for (std::uint32_t block = 0; block < blocks; ++block) {
            PhiloxBlock const four = philox(
                {key_.draw, token_, key_.source, stream_id(Purpose::topk_sampling, key_.layer, block)}, key_.seed);
            std::copy(four.begin(), four.end(), words_.begin() + std::ptrdiff_t{4} * block);
        }
        ++token_;
        // -ln(u) > 1 - u, so most experts are ruled out without a logarithm. The gap is at least (1 - u)^2 / 2 with
        // 1 - u >= 2^-33, far above rounding, so the outcome is that of comparing scores only.
        for (std::size_t expert = 0; expert < least_scores_.size(); ++expert) {
            least_scores_[expert] = (1 - to_unit(words_[expert])) * inverse_weights_[expert];
        }
    }

    [[nodiscard]] double score_of(std::size_t expert) const {
        return -exact::log(to_unit(words_[expert])) * inverse_weights_[expert];
    }

    /// Keeps the top_k lowest scores; of equal scores the lower expert, which comes first, stays ahead.
    void scan(std::size_t begin, std::size_t end) {
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
    [[nodiscard]] double group_score(std::size_t group) const {
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

    void choose_groups() {
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

    std::size_t top_k_;
    std::size_t groups_;
    std::size_t group_limit_;
    GroupScore group_score_;
    RoutingKey key_;
    std::uint32_t token_ = 0;
    std::vector<double> inverse_weights_;
    std::vector<std::uint32_t> words_;
    std::vector<double> least_scores_;  // no score is below
    std::vector<Scored> best_;          // the lowest so far, ascending
    std::vector<Scored> group_order_;   // groups by score
    std::vector<std::size_t> chosen_;
};

/// Adds each weight's share of the sum, in units that leave room for 2^20 sources.
void add_shares(std::vector<double> const& weights, std::vector<std::uint64_t>& loads) {
    double const sum = std::accumulate(weights.begin(), weights.end(), 0.0);
    for (std::size_t expert = 0; expert < weights.size(); ++expert) {
        loads[expert] += static_cast<std::uint64_t>(weights[expert] / sum * 0x1p40);
    }
}

}  // namespace

Routing::Routing(Params const& params, WorldShape const& world)
    : params_(params), world_(world), weights_(params.skew, Bins{owners_of_experts(params), params.tokens, params.top_k,
                                                                 static_cast<std::size_t>(world.ranks)}),
      motion_(params.moving, owners_of_experts(params)) {
    if (params.skew.family == Skew::Family::file) {
        file_loads_.resize(params.experts);
        for (Rank source = 0; source < world.ranks; ++source) {
            add_shares(weights_.of(static_cast<std::size_t>(source), 0, 0), file_loads_);
        }
    }
}

std::vector<std::uint64_t> Routing::expected_loads(std::uint64_t seed, std::uint32_t layer) const {
    if (!file_loads_.empty()) {
        return file_loads_;
    }
    std::vector<std::uint64_t> loads(params_.experts);
    add_shares(weights_.of(0, seed, layer), loads);  // alike for all sources
    return loads;
}

ExpertPlacement Routing::placement(std::uint64_t seed, std::uint32_t layer) const {
    return place_experts(params_, params_.placement, expected_loads(seed, layer));
}

ExpertPlacement Routing::placement_before(std::uint64_t seed, std::uint32_t layer) const {
    bool const stays = params_.placement_before.kind == PlacementRule::Kind::none;
    return place_experts(params_, stays ? params_.placement : params_.placement_before, expected_loads(seed, layer));
}

std::vector<double> Routing::weights(Rank source, Draw draw, std::uint32_t layer) const {
    std::vector<double> weights = weights_.of(static_cast<std::size_t>(source), draw.seed, layer);
    motion_.apply(weights, draw, layer);
    return weights;
}

void Routing::favour_own_node(Rank source, ExpertPlacement const& placed, std::vector<double>& weights) const {
    auto const ep = static_cast<Rank>(params_.ep);
    for (std::size_t expert = 0; expert < weights.size(); ++expert) {
        std::span<std::size_t const> const ranks = placed.ranks_of(expert);
        bool const near = std::any_of(ranks.begin(), ranks.end(), [&](std::size_t rank) {
            return world_.node_of(source / ep * ep + static_cast<Rank>(rank)) == world_.node_of(source);
        });
        weights[expert] *= near ? params_.skew.intra_host : 1;
    }
}

void Routing::for_each_token(Rank source, Draw draw, std::uint32_t layer,
                             std::function<void(std::span<std::size_t const>)> const& visit) const {
    auto const visit_all = [&](auto experts) {
        for (std::uint64_t token = 0; token < params_.tokens; ++token) {
            visit(experts.next());
        }
    };
    RoutingKey const key{draw.seed, draw.index, static_cast<std::uint32_t>(source), layer};
    if (params_.skew.family == Skew::Family::balanced) {
        visit_all(BalancedRouting(params_, key));
        return;
    }
    std::vector<double> weights = this->weights(source, draw, layer);
    if (params_.skew.intra_host != 1) {
        favour_own_node(source, placement(draw.seed, layer), weights);
    }
    visit_all(TopkSampling(params_, weights, key));
}

}  // namespace dlmb::moe_alltoall
