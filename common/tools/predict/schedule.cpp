// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Source: Chan et al., "Collective communication: theory, practice, and experience", 2007.
#include "common/tools/predict/schedule.hpp"

#include "common/base/error.hpp"
#include "common/tools/predict/schedule/rounds.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <numeric>

namespace dlmb::predict {
namespace {

constexpr int chains = 4;
constexpr double bytes_of_element = 4;

Rounds then(Rounds rounds, Rounds more) {
    append(rounds, std::move(more));
    return rounds;
}

/// The busiest rank copies this share of the vector in the first of these rounds, all times of it together.
Rounds copying_first(Rounds rounds, double share) {
    rounds.front().copied += share / rounds.front().times;
    return rounds;
}

/// Each rank copies its own block into the result.
Rounds copying_block(Rounds rounds, int ranks) {
    return copying_first(std::move(rounds), 1.0 / ranks);
}

Rounds reducing(Rounds rounds, double share) {
    for (Round& round : rounds) {
        round.reduced = share;
    }
    return rounds;
}

/// Between the ranks that are left when those beyond a power of two have given theirs their vector, and have got it, or
/// this share of it, back.
Rounds folded(int ranks, Rounds (*between)(Folded const&), double share_back) {
    Folded const folded(ranks);
    Rounds rounds;
    folded.fold(rounds, 1, 1);
    append(rounds, between(folded));
    folded.unfold(rounds, share_back);
    return copying_first(std::move(rounds), 1);  // of the input, which stays as it is
}

Rounds doubling_allreduce(int ranks) {
    auto const doubling = [](Folded const& folded) {
        Rounds rounds;
        for (int distance = 1; distance < folded.left(); distance *= 2) {
            rounds.push_back(folded.exchange(distance, 1));
            rounds.back().reduced = 1;
        }
        return rounds;
    };
    Rounds rounds = folded(ranks, doubling, 1);
    rounds.back().copied += 1;  // of the result: the last rank has it in temporary memory
    return rounds;
}

Rounds halving_allreduce(Folded const& folded) {
    return then(halving(folded, true), reducing(reversed(halving(folded, true)), 0));
}

Rounds halving_reduce(int ranks) {
    Folded const folded(ranks);
    Rounds rounds;
    folded.fold(rounds, 1, 1);
    append(rounds, halving(folded, true));
    append(rounds, gather_after_halving(folded));
    return rounds;
}

Rounds bucket_allgather(Extents const& extents) {
    return reducing(reversed(bucket(extents)), 0);
}

Rounds star_up(int ranks) {
    return reducing(reversed(star(ranks, 1)), ranks - 1);
}

/// The question to a rank and its answer: two messages that nothing else overlaps.
Rounds asked_one_by_one(int ranks) {
    Rounds rounds;
    for_distances(ranks, [&](int rank, double stands_for) {
        rounds.push_back({{{0, rank, 0}}, stands_for});
        rounds.push_back({{{rank, 0, 1.0 / ranks}}, stands_for});
    });
    return rounds;
}

struct Row {
    Collective collective;
    Algorithm algorithm;
    Rounds (*rounds)(int ranks);
    Rounds (*on_torus)(Extents const& extents) = nullptr;
};

using C = Collective;
using A = Algorithm;

constexpr Row catalogue[] = {
    {C::allreduce, A::recursive_doubling, doubling_allreduce},
    {C::allreduce, A::rabenseifner, [](int p) { return folded(p, halving_allreduce, 1); }},
    {C::allreduce, A::ring, [](int p) { return then(copying_first(ring(p, true), 1), ring(p, false)); }},
    {C::allreduce, A::bucket, nullptr,
     [](Extents const& torus) { return then(copying_first(bucket(torus), 1), bucket_allgather(torus)); }},
    {C::allreduce, A::linear, [](int p) { return then(star_up(p), star(p, 1)); }},
    {C::allgather, A::recursive_doubling, [](int p) { return copying_block(doubling_allgather(p), p); }},
    {C::allgather, A::ring, [](int p) { return copying_block(ring(p, false), p); }},
    {C::allgather, A::bucket, nullptr, bucket_allgather},
    {C::allgather, A::neighbor_exchange, [](int p) { return copying_block(neighbor_exchange(p), p); }},
    {C::allgather, A::bruck, [](int p) { return copying_block(bruck_allgather(p), p); }},
    {C::allgather, A::linear, [](int p) { return copying_block(all_to_all_at_once(p), p); }},
    {C::allgather, A::gather_bcast, [](int p) { return copying_block(gather_bcast(p), p); }},
    {C::reduce_scatter, A::recursive_halving,
     [](int p) {
         return folded(
             p, [](Folded const& left) { return halving(left, false); }, 1.0 / p);
     }},
    {C::reduce_scatter, A::distance_doubling,
     [](int p) {
         return folded(
             p, [](Folded const& left) { return halving(left, true); }, 1.0 / p);
     }},
    {C::reduce_scatter, A::ring, [](int p) { return copying_first(ring(p, true), 1); }},
    {C::reduce_scatter, A::bucket, nullptr, [](Extents const& torus) { return copying_first(bucket(torus), 1); }},
    {C::reduce_scatter, A::pairwise, [](int p) { return pairwise(p, true); }},
    {C::alltoall, A::bruck, bruck_alltoall},
    {C::alltoall, A::pairwise, [](int p) { return pairwise(p, false); }},
    {C::alltoall, A::linear, all_to_all_at_once},
    {C::alltoall, A::linear_sync, all_to_all_at_once},
    {C::bcast, A::binomial, [](int p) { return down(binomial_tree(p), 1); }},
    {C::bcast, A::binary, [](int p) { return down(binary_tree(p), 1); }},
    {C::bcast, A::knomial, [](int p) { return down(knomial_tree(p), 1); }},
    {C::bcast, A::split_binary, split_binary},
    {C::bcast, A::chain, [](int p) { return down(chain_tree(p, chains), 1); }},
    {C::bcast, A::three_chains, [](int p) { return down(chain_tree(p, 3), 1); }},
    {C::bcast, A::pipeline, [](int p) { return down(chain_tree(p, 1), 1); }},
    {C::bcast, A::linear, [](int p) { return star(p, 1); }},
    {C::bcast, A::scatter_allgather, [](int p) { return then(binomial_scatter(p), doubling_allgather(p)); }},
    {C::bcast, A::scatter_allgather_ring, [](int p) { return then(binomial_scatter(p), ring(p, false)); }},
    {C::reduce, A::binomial, [](int p) { return up(in_order_binomial_tree(p)); }},
    {C::reduce, A::binary, [](int p) { return up(binary_tree(p)); }},
    {C::reduce, A::binomial_pipelined, [](int p) { return pipelined_up(in_order_binomial_tree(p)); }},
    {C::reduce, A::binary_pipelined, [](int p) { return pipelined_up(binary_tree(p)); }},
    {C::reduce, A::chain, [](int p) { return up(chain_tree(p, chains)); }},
    {C::reduce, A::three_chains, [](int p) { return up(chain_tree(p, 3)); }},
    {C::reduce, A::pipeline, [](int p) { return up(chain_tree(p, 1)); }},
    {C::reduce, A::linear, star_up},
    {C::reduce, A::rabenseifner, halving_reduce},
    {C::scatter, A::binomial, binomial_scatter},
    {C::scatter, A::linear, [](int p) { return star(p, 1.0 / p); }},
    {C::gather, A::binomial, [](int p) { return reversed(binomial_scatter(p)); }},
    {C::gather, A::linear, [](int p) { return reversed(star(p, 1.0 / p)); }},
    {C::gather, A::linear_sync, asked_one_by_one},
    {C::sendrecv, A::ring, [](int p) { return Rounds{shift(p, 1, 1)}; }},
};

Row const* row_of(Collective collective, Algorithm algorithm) {
    auto const* const row = std::find_if(std::begin(catalogue), std::end(catalogue), [&](Row const& each) {
        return each.collective == collective && each.algorithm == algorithm;
    });
    return row == std::end(catalogue) ? nullptr : row;
}

}  // namespace

bool has(Collective collective, Algorithm algorithm) {
    return row_of(collective, algorithm) != nullptr;
}

Algorithm algorithm_that_runs(Collective collective, NamedAlgorithm named, double bytes, int ranks) {
    bool const one_segment = bytes <= named.one_segment_bytes;
    switch (named.algorithm) {
    case Algorithm::ring:
        return collective == Collective::allreduce && bytes < bytes_of_element * ranks ? Algorithm::recursive_doubling
                                                                                       : Algorithm::ring;
    case Algorithm::split_binary:
        return bytes >= 2 * bytes_of_element ? Algorithm::split_binary : Algorithm::three_chains;
    case Algorithm::binomial_pipelined:
        return one_segment ? Algorithm::binomial : named.algorithm;
    case Algorithm::binary_pipelined:
        return one_segment ? Algorithm::binary : named.algorithm;
    default:
        return named.algorithm;
    }
}

double temporary_share(Collective collective, Algorithm algorithm) {
    switch (collective) {
    case Collective::allreduce:
        return algorithm == Algorithm::ring ? 0 : 1;
    case Collective::reduce_scatter:
        return algorithm == Algorithm::pairwise ? 0 : algorithm == Algorithm::ring ? 1 : 2;
    case Collective::reduce:
        return algorithm == Algorithm::rabenseifner ? 2 : 1;
    case Collective::allgather:
    case Collective::alltoall:
        return algorithm == Algorithm::bruck ? 1 : 0;
    case Collective::gather:
    case Collective::scatter:
        return algorithm == Algorithm::binomial ? 0.5 : 0;
    case Collective::bcast:
    case Collective::sendrecv:
        return 0;
    }
    return 0;
}

double touched_share(Collective collective, int ranks) {
    switch (collective) {
    case Collective::allgather:
    case Collective::reduce_scatter:
    case Collective::gather:
    case Collective::scatter:
        return 1 + 1.0 / ranks;
    case Collective::allreduce:
    case Collective::alltoall:
    case Collective::bcast:
    case Collective::reduce:
    case Collective::sendrecv:
        return 2;
    }
    return 2;
}

double buffer_share(Collective collective, int ranks) {
    return collective == Collective::bcast ? 1 : touched_share(collective, ranks);
}

std::vector<Round> schedule_of(Collective collective, Algorithm algorithm, Extents const& extents) {
    int const ranks = std::accumulate(extents.begin(), extents.end(), 1, std::multiplies<>());
    if (ranks < 1) {
        throw UsageError(fmt::format("a collective needs at least 1 rank, not {}", ranks));
    }
    if (ranks == 1) {
        return {};
    }
    Row const* const row = row_of(collective, algorithm);
    if (row == nullptr) {
        throw UsageError(fmt::format("{} has no algorithm {}", name_of(collective), name_of(algorithm)));
    }
    return row->on_torus != nullptr ? row->on_torus(extents) : row->rounds(ranks);
}

}  // namespace dlmb::predict
