// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Source: Chan et al., "Collective communication: theory, practice, and experience", 2007.
#include "common/tools/predict/schedule.hpp"

#include "common/base/error.hpp"
#include "common/tools/predict/schedule/rounds.hpp"

#include <fmt/format.h>

namespace dlmb::predict {
namespace {

constexpr int chains = 4;
constexpr double bytes_of_element = 4;

Rounds without_reduction(Rounds rounds) {
    for (Round& round : rounds) {
        round.reduced = 0;
    }
    return rounds;
}

Rounds allreduce(Algorithm algorithm, int ranks) {
    Folded const folded(ranks);
    Rounds rounds;
    switch (algorithm) {
    case Algorithm::recursive_doubling:
        folded.fold(rounds, 1, 1);
        for (int distance = 1; distance < folded.left(); distance *= 2) {
            rounds.push_back(folded.exchange(distance, 1));
            rounds.back().reduced = 1;
        }
        folded.unfold(rounds, 1);
        rounds.front().copied = 1;  // of the input, which stays as it is
        rounds.back().copied += 1;  // of the result: the last rank has it in temporary memory
        return rounds;
    case Algorithm::rabenseifner:
        folded.fold(rounds, 1, 1);
        append(rounds, halving(folded, true));
        rounds.front().copied = 1;
        append(rounds, without_reduction(reversed(halving(folded, true))));
        folded.unfold(rounds, 1);
        return rounds;
    case Algorithm::ring:
        rounds = ring(ranks, true);
        rounds.front().copied = 1 / rounds.front().times;
        append(rounds, ring(ranks, false));
        return rounds;
    case Algorithm::linear:
        rounds = reversed(star(ranks, 1));
        rounds.front().reduced = ranks - 1;
        append(rounds, star(ranks, 1));
        return rounds;
    default:
        return {};
    }
}

Rounds allgather_rounds(Algorithm algorithm, int ranks) {
    switch (algorithm) {
    case Algorithm::recursive_doubling:
        return doubling_allgather(ranks);
    case Algorithm::ring:
        return ring(ranks, false);
    case Algorithm::neighbor_exchange:
        return neighbor_exchange(ranks);
    case Algorithm::bruck:
        return bruck_allgather(ranks);
    case Algorithm::linear:
        return all_to_all_at_once(ranks);
    case Algorithm::gather_bcast:
        return gather_bcast(ranks);
    default:
        return {};
    }
}

/// Each rank first copies its own block into the result.
Rounds allgather(Algorithm algorithm, int ranks) {
    Rounds rounds = allgather_rounds(algorithm, ranks);
    if (!rounds.empty()) {
        rounds.front().copied += 1.0 / ranks / rounds.front().times;
    }
    return rounds;
}

Rounds reduce_scatter(Algorithm algorithm, int ranks) {
    Folded const folded(ranks);
    Rounds rounds;
    switch (algorithm) {
    case Algorithm::recursive_halving:
    case Algorithm::distance_doubling:
        folded.fold(rounds, 1, 1);
        append(rounds, halving(folded, algorithm == Algorithm::distance_doubling));
        folded.unfold(rounds, 1.0 / ranks);
        rounds.front().copied = 1;
        return rounds;
    case Algorithm::ring:
        rounds = ring(ranks, true);
        rounds.front().copied = 1 / rounds.front().times;
        return rounds;
    case Algorithm::pairwise:
        return pairwise(ranks, true);
    default:
        return {};
    }
}

Rounds bcast(Algorithm algorithm, int ranks) {
    Rounds rounds;
    switch (algorithm) {
    case Algorithm::binomial:
        return down(binomial_tree(ranks), 1);
    case Algorithm::binary:
        return down(binary_tree(ranks), 1);
    case Algorithm::knomial:
        return down(knomial_tree(ranks), 1);
    case Algorithm::split_binary:
        return split_binary(ranks);
    case Algorithm::chain:
        return down(chain_tree(ranks, chains), 1);
    case Algorithm::three_chains:
        return down(chain_tree(ranks, 3), 1);
    case Algorithm::pipeline:
        return down(chain_tree(ranks, 1), 1);
    case Algorithm::linear:
        return star(ranks, 1);
    case Algorithm::scatter_allgather:
        rounds = binomial_scatter(ranks);
        append(rounds, doubling_allgather(ranks));
        return rounds;
    case Algorithm::scatter_allgather_ring:
        rounds = binomial_scatter(ranks);
        append(rounds, ring(ranks, false));
        return rounds;
    default:
        return {};
    }
}

Rounds reduce(Algorithm algorithm, int ranks) {
    Folded const folded(ranks);
    Rounds rounds;
    switch (algorithm) {
    case Algorithm::binomial:
        return up(in_order_binomial_tree(ranks));
    case Algorithm::binary:
        return up(binary_tree(ranks));
    case Algorithm::binomial_pipelined:
        return pipelined_up(in_order_binomial_tree(ranks));
    case Algorithm::binary_pipelined:
        return pipelined_up(binary_tree(ranks));
    case Algorithm::chain:
        return up(chain_tree(ranks, chains));
    case Algorithm::three_chains:
        return up(chain_tree(ranks, 3));
    case Algorithm::pipeline:
        return up(chain_tree(ranks, 1));
    case Algorithm::linear:
        rounds = reversed(star(ranks, 1));
        rounds.front().reduced = ranks - 1;
        return rounds;
    case Algorithm::rabenseifner:
        folded.fold(rounds, 1, 1);
        append(rounds, halving(folded, true));
        append(rounds, gather_after_halving(folded));
        return rounds;
    default:
        return {};
    }
}

Rounds scatter(Algorithm algorithm, int ranks) {
    switch (algorithm) {
    case Algorithm::binomial:
        return binomial_scatter(ranks);
    case Algorithm::linear:
        return star(ranks, 1.0 / ranks);
    default:
        return {};
    }
}

Rounds gather(Algorithm algorithm, int ranks) {
    if (algorithm == Algorithm::linear_sync) {
        // The question to a rank and its answer: two messages that nothing else overlaps.
        Rounds rounds;
        for_distances(ranks, [&](int rank, double stands_for) {
            rounds.push_back({{{0, rank, 0}}, stands_for});
            rounds.push_back({{{rank, 0, 1.0 / ranks}}, stands_for});
        });
        return rounds;
    }
    return reversed(scatter(algorithm, ranks));
}

Rounds alltoall(Algorithm algorithm, int ranks) {
    switch (algorithm) {
    case Algorithm::bruck:
        return bruck_alltoall(ranks);
    case Algorithm::pairwise:
        return pairwise(ranks, false);
    case Algorithm::linear:
    case Algorithm::linear_sync:
        return all_to_all_at_once(ranks);
    default:
        return {};
    }
}

}  // namespace

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

std::vector<Round> schedule_of(Collective collective, Algorithm algorithm, int ranks) {
    if (ranks < 1) {
        throw UsageError(fmt::format("a collective needs at least 1 rank, not {}", ranks));
    }
    if (ranks == 1) {
        return {};
    }
    Rounds rounds;
    switch (collective) {
    case Collective::allreduce:
        rounds = allreduce(algorithm, ranks);
        break;
    case Collective::allgather:
        rounds = allgather(algorithm, ranks);
        break;
    case Collective::reduce_scatter:
        rounds = reduce_scatter(algorithm, ranks);
        break;
    case Collective::alltoall:
        rounds = alltoall(algorithm, ranks);
        break;
    case Collective::bcast:
        rounds = bcast(algorithm, ranks);
        break;
    case Collective::reduce:
        rounds = reduce(algorithm, ranks);
        break;
    case Collective::gather:
        rounds = gather(algorithm, ranks);
        break;
    case Collective::scatter:
        rounds = scatter(algorithm, ranks);
        break;
    case Collective::sendrecv:
        rounds = algorithm == Algorithm::ring ? Rounds{shift(ranks, 1, 1)} : Rounds{};
        break;
    }
    if (rounds.empty()) {
        throw UsageError(fmt::format("{} has no algorithm {}", name_of(collective), name_of(algorithm)));
    }
    return rounds;
}

}  // namespace dlmb::predict
