// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "patterns/sparse_allreduce/iteration.hpp"

#include <array>
#include <bit>
#include <functional>
#include <iterator>
#include <utility>

namespace dlmb::sparse_allreduce {
namespace {

/// Adds neighbours, then neighbours of those, until one is left. visit(level, sums) sees the vectors before each level.
template <class Add, class Visit>
SparseVector by_pairs(std::vector<SparseVector> level, Add const& add, Visit const& visit) {
    for (std::size_t number = 0; level.size() > 1; ++number) {
        visit(number, level);
        std::vector<SparseVector> next((level.size() + 1) / 2);
        for (std::size_t i = 0; i < level.size(); i += 2) {
            next[i / 2] = i + 1 < level.size() ? add(std::span(level).subspan(i, 2)) : std::move(level[i]);
        }
        level = std::move(next);
    }
    return std::move(level.front());
}

/// The k largest sums of all picks.
SparseVector global_top(Params const& params, std::span<SparseVector const> picks) {
    return largest(sum_of(picks), params.k);
}

double recall_of(std::span<SparseEntry const> result, std::span<SparseEntry const> exact) {
    std::size_t found = 0;
    auto place = result.begin();
    for (SparseEntry const& entry : exact) {
        place = std::lower_bound(place, result.end(), entry.index,
                                 [](SparseEntry const& each, std::uint32_t index) { return each.index < index; });
        if (place != result.end() && *place == entry) {
            ++found;
        }
    }
    return exact.empty() ? 1 : static_cast<double>(found) / static_cast<double>(exact.size());
}

void gtopk(Params const& params, SparseIteration& iteration) {
    auto const add = [&](std::span<SparseVector const> pair) { return largest(sum_of(pair), params.k); };
    iteration.result = by_pairs(iteration.picks, add, [](std::size_t, auto const&) {});
    std::uint64_t const each = words_per_entry * params.k;
    for (std::size_t rank = 0; rank < params.ranks; ++rank) {
        MovedWords& words = iteration.words[rank];
        for (std::size_t step = 1; step < params.ranks && rank % step == 0; step *= 2) {
            bool const sends = rank % (2 * step) != 0;
            words.split_sent += sends ? each : 0;
            words.split_received += !sends && rank + step < params.ranks ? each : 0;
        }
        words.gathered = rank == 0 ? 0 : each;
    }
}

/// Pairs as long as they are fewer words than a dense vector (SparCML, SC 2019).
std::uint64_t words_of(Params const& params, std::size_t count) {
    return std::min<std::uint64_t>(words_per_entry * count, params.elements);
}

void recursive_sparse(Params const& params, SparseIteration& iteration) {
    Doubling& doubling = iteration.doubling;
    std::size_t const twins = doubling.twins = std::bit_floor(params.ranks);
    std::vector<SparseVector> level(iteration.picks.begin(),
                                    iteration.picks.begin() + static_cast<std::ptrdiff_t>(twins));
    for (std::size_t rank = twins; rank < params.ranks; ++rank) {
        std::uint64_t const words = words_of(params, iteration.picks[rank].size());
        iteration.words[rank].split_sent += words;
        iteration.words[rank - twins].split_received += words;
        std::array const pair{std::move(level[rank - twins]), iteration.picks[rank]};
        level[rank - twins] = sum_of(pair);
    }
    auto const add = [](std::span<SparseVector const> pair) { return sum_of(pair); };
    SparseVector const sum = by_pairs(std::move(level), add, [&](std::size_t, std::vector<SparseVector> const& groups) {
        std::vector<std::size_t>& counts = doubling.counts.emplace_back();
        std::transform(groups.begin(), groups.end(), std::back_inserter(counts),
                       [](SparseVector const& group) { return group.size(); });
    });
    doubling.final_count = sum.size();
    for (std::size_t round = 0; round < doubling.counts.size(); ++round) {
        for (std::size_t rank = 0; rank < twins; ++rank) {
            std::size_t const group = rank >> round;
            iteration.words[rank].split_sent += words_of(params, doubling.counts[round][group]);
            iteration.words[rank].split_received += words_of(params, doubling.counts[round][group ^ 1U]);
        }
    }
    for (std::size_t rank = twins; rank < params.ranks; ++rank) {
        iteration.words[rank].gathered += words_of(params, sum.size());
    }
    iteration.result = largest(sum, params.k);
}

void topk_allgather(Params const& params, SparseIteration& iteration) {
    iteration.result = global_top(params, iteration.picks);
    for (MovedWords& words : iteration.words) {
        words.gathered = words_per_entry * params.k * (params.ranks - 1);
    }
}

/// As a reduce-scatter and an allgather that move no word twice.
void dense(Params const& params, SparseIteration& iteration) {
    for (MovedWords& words : iteration.words) {
        std::uint64_t const half = params.elements * (params.ranks - 1) / params.ranks;
        words = {half, half, half};
    }
}

}  // namespace

void SparseIterations::oktopk(Draw draw, OktopkState& state, SparseIteration& iteration) const {
    iteration.estimated = estimates(params_, draw.index);
    iteration.partitioned = partitions(params_, draw.index);
    state.thresholds.resize(params_.ranks);
    std::vector<std::uint64_t> bounds(params_.ranks - 1);
    for (std::size_t rank = 0; rank < params_.ranks; ++rank) {
        SparseVector const gradients = gradients_.large(static_cast<Rank>(rank), draw);
        SparseVector& picks = iteration.picks[rank];
        picks = select(params_, iteration.estimated, gradients, state.thresholds[rank]);
        if (iteration.partitioned) {
            std::vector<std::uint64_t> const own = equal_count_bounds(params_, picks);
            std::transform(own.begin(), own.end(), bounds.begin(), bounds.begin(), std::plus<>{});
        }
    }
    if (iteration.partitioned) {
        state.regions = regions_of(params_, bounds);
    } else if (state.regions.empty()) {
        state.regions = equal_width_regions(params_);
    }
    iteration.regions = state.regions;

    SparseVector all;
    for (std::size_t owner = 0; owner < params_.ranks; ++owner) {
        std::vector<std::span<SparseEntry const>> parts;
        for (std::size_t rank = 0; rank < params_.ranks; ++rank) {
            parts.push_back(part_of(iteration.picks[rank], iteration.regions[owner], iteration.regions[owner + 1]));
            std::uint64_t const words = rank == owner ? 0 : words_per_entry * parts.back().size();
            iteration.words[rank].split_sent += words;
            iteration.words[owner].split_received += words;
        }
        iteration.sums.push_back(sum_of(parts));
        all.insert(all.end(), iteration.sums.back().begin(), iteration.sums.back().end());
    }

    Thresholds& thresholds = state.thresholds.front();
    SparseVector const top = largest(all, params_.k);
    iteration.result = iteration.estimated ? top : at_least(all, thresholds.global);
    iteration.recall = recall_of(iteration.result, top);
    correct_global(params_, iteration.estimated, iteration.result, thresholds);
    std::vector<std::size_t> counts;
    for (std::size_t owner = 0; owner < params_.ranks; ++owner) {
        std::span<SparseEntry const> const kept =
            part_of(iteration.result, iteration.regions[owner], iteration.regions[owner + 1]);
        iteration.kept.emplace_back(kept.begin(), kept.end());
        counts.push_back(kept.size());
        state.thresholds[owner].global = thresholds.global;
    }
    iteration.moves = even_parts(params_, counts);
    iteration.held = counts;
    for (EntryMove const& move : iteration.moves) {
        iteration.held[move.from] -= move.count;
        iteration.held[move.to] += move.count;
        iteration.words[move.to].gathered += words_per_entry * move.count;
    }
    for (std::size_t rank = 0; rank < params_.ranks; ++rank) {
        iteration.words[rank].gathered += words_per_entry * (iteration.result.size() - iteration.held[rank]);
    }
}

SparseIteration SparseIterations::make(Draw draw, OktopkState& state) const {
    SparseIteration iteration;
    iteration.words.resize(params_.ranks);
    if (params_.algorithm == SparseAlgorithm::dense) {
        dense(params_, iteration);
        return iteration;
    }
    iteration.picks.resize(params_.ranks);
    if (params_.algorithm == SparseAlgorithm::oktopk) {
        oktopk(draw, state, iteration);
        return iteration;
    }
    for (std::size_t rank = 0; rank < params_.ranks; ++rank) {
        iteration.picks[rank] = largest(gradients_.large(static_cast<Rank>(rank), draw), params_.k);
    }
    switch (params_.algorithm) {
    case SparseAlgorithm::gtopk:
        gtopk(params_, iteration);
        iteration.recall = recall_of(iteration.result, global_top(params_, iteration.picks));
        break;
    case SparseAlgorithm::recursive_sparse:
        recursive_sparse(params_, iteration);
        break;
    default:
        topk_allgather(params_, iteration);
        break;
    }
    return iteration;
}

std::shared_ptr<SparseIteration const> SparseIterations::at(Draw draw) const {
    std::lock_guard const lock(mutex_);
    if (last_ && last_draw_ == draw) {
        return last_;
    }
    std::uint32_t first = draw.index;
    if (params_.algorithm == SparseAlgorithm::oktopk) {
        if (last_ && last_draw_.seed == draw.seed && last_draw_.index < draw.index) {
            first = last_draw_.index + 1;
        } else {
            // The iteration whose regions are used, and the one whose thresholds its picks were made with.
            std::uint32_t const partition = draw.index - draw.index % params_.boundaries_every;
            first = partition - partition % params_.threshold_every;
            state_ = {};
        }
    }
    for (std::uint32_t index = first; index <= draw.index; ++index) {
        last_ = std::make_shared<SparseIteration const>(make({draw.seed, index}, state_));
    }
    last_draw_ = draw;
    return last_;
}

}  // namespace dlmb::sparse_allreduce
