// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Sources: Thakur, Rabenseifner, Gropp, "Optimization of Collective Communication Operations in MPICH", 2005; Chan et
// al., "Collective communication: theory, practice, and experience", 2007; Bruck et al., "Efficient algorithms for
// all-to-all communications", 1997; the orders of partners as Open MPI 4.1 has them.
#include "common/predict/schedule.hpp"

#include "common/base/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <utility>

namespace dlmb::predict {
namespace {

using Rounds = std::vector<Round>;

constexpr int most_distances = 64;
constexpr int knomial_radix = 4;
constexpr int chains = 4;
constexpr double bytes_of_element = 4;

int floor_power(int ranks) {
    return static_cast<int>(std::bit_floor(static_cast<unsigned>(ranks)));
}

void append(Rounds& rounds, Rounds more) {
    std::move(more.begin(), more.end(), std::back_inserter(rounds));
}

Rounds reversed(Rounds rounds) {
    std::reverse(rounds.begin(), rounds.end());
    for (Round& round : rounds) {
        for (Message& message : round.messages) {
            std::swap(message.from, message.to);
        }
    }
    return rounds;
}

Round shift(int ranks, int distance, double share) {
    Round round;
    for (int rank = 0; rank < ranks; ++rank) {
        round.messages.push_back({rank, (rank + distance) % ranks, share});
    }
    return round;
}

/// The q ranks that are left when the first 2 (P - q) ranks have become pairs: the odd one of each pair stays.
class Folded {
public:
    explicit Folded(int ranks) : left_(floor_power(ranks)), pairs_(ranks - left_) {}

    [[nodiscard]] int left() const { return left_; }
    [[nodiscard]] int rank(int place) const { return place < pairs_ ? 2 * place + 1 : place + pairs_; }

    /// Even ranks give the vector to the odd ones.
    void fold(Rounds& rounds, double share, double reduced) const {
        if (pairs_ > 0) {
            Round round;
            for (int pair = 0; pair < pairs_; ++pair) {
                round.messages.push_back({2 * pair, 2 * pair + 1, share});
            }
            round.reduced = reduced;
            rounds.push_back(std::move(round));
        }
    }
    void unfold(Rounds& rounds, double share) const {
        Rounds back;
        fold(back, share, 0);
        append(rounds, reversed(std::move(back)));
    }
    [[nodiscard]] Round exchange(int distance, double share) const {
        Round round;
        for (int place = 0; place < left_; ++place) {
            round.messages.push_back({rank(place), rank(place ^ distance), share});
        }
        round.both_ways = true;
        return round;
    }

private:
    int left_;
    int pairs_;
};

/// Halves the vector in each round; the partner's distance doubles, or halves.
Rounds halving(Folded const& folded, bool nearest_first) {
    Rounds rounds;
    double share = 0.5;
    for (int step = 1; step < folded.left(); step *= 2, share /= 2) {
        rounds.push_back(folded.exchange(nearest_first ? step : folded.left() / 2 / step, share));
        rounds.back().reduced = share;
    }
    return rounds;
}

Rounds without_reduction(Rounds rounds) {
    for (Round& round : rounds) {
        round.reduced = 0;
    }
    return rounds;
}

Rounds doubling_allgather(int ranks) {
    // Parts of the P - q folded ranks travel with those of their neighbours.
    Folded const folded(ranks);
    double const block = 1.0 / ranks;
    Rounds rounds;
    folded.fold(rounds, block, 0);
    for (int distance = 1; distance < folded.left(); distance *= 2) {
        rounds.push_back(folded.exchange(distance, static_cast<double>(distance) / folded.left()));
    }
    folded.unfold(rounds, 1);
    return rounds;
}

Rounds ring(int ranks, bool reduces) {
    Round round = shift(ranks, 1, 1.0 / ranks);
    round.times = ranks - 1;
    round.reduced = reduces ? 1.0 / ranks : 0;
    return {round};
}

Rounds neighbor_exchange(int ranks) {
    if (ranks % 2 != 0) {
        throw UsageError(fmt::format("neighbor exchange needs an even number of ranks, not {}", ranks));
    }
    double const block = 1.0 / ranks;
    auto const exchange = [&](int first, double share) {
        Round round;
        for (int rank = first; rank < ranks + first; rank += 2) {
            int const left = rank % ranks;
            int const right = (rank + 1) % ranks;
            round.messages.push_back({left, right, share});
            round.messages.push_back({right, left, share});
        }
        round.both_ways = true;
        return round;
    };
    Rounds rounds{exchange(0, block)};
    int const others = ranks / 2 - 1;
    for (int parity = 0; parity < 2; ++parity) {
        int const times = parity == 0 ? (others + 1) / 2 : others / 2;
        if (times > 0) {
            rounds.push_back(exchange(1 - parity, 2 * block));
            rounds.back().times = times;
        }
    }
    return rounds;
}

Rounds bruck_allgather(int ranks) {
    Rounds rounds;
    for (int distance = 1; distance < ranks; distance *= 2) {
        rounds.push_back(
            shift(ranks, ranks - distance, static_cast<double>(std::min(distance, ranks - distance)) / ranks));
    }
    rounds.back().copied = 1;  // the blocks are turned into place at the end
    return rounds;
}

Rounds bruck_alltoall(int ranks) {
    Rounds rounds;
    for (int bit = 1; bit < ranks; bit *= 2) {
        int blocks = 0;
        for (int block = 0; block < ranks; ++block) {
            blocks += (block & bit) != 0 ? 1 : 0;
        }
        double const share = static_cast<double>(blocks) / ranks;
        rounds.push_back(shift(ranks, bit, share));
        rounds.back().copied = 2 * share;  // packed and unpacked
    }
    rounds.front().copied += 2;  // turned before the first round and after the last one
    return rounds;
}

/// For each distance from 1 to P - 1, or for 64 of them: use(distance, for how many distances it stands).
void for_distances(int ranks, std::function<void(int, double)> const& use) {
    int const all = ranks - 1;
    int const taken = std::min(all, most_distances);
    for (int index = 0; index < taken; ++index) {
        // One of each of `taken` equal ranges, at a place that changes by the golden ratio: always the middle would be
        // the same distance in a dimension of a torus whose extent is a power of two.
        double const place = taken == all ? 0.5 : std::fmod((index + 1) * 0.6180339887498949, 1.0);
        int const distance = 1 + static_cast<int>((index + place) * all / taken);
        use(distance, static_cast<double>(all) / taken);
    }
}

Rounds pairwise(int ranks, bool reduces) {
    Rounds rounds;
    for_distances(ranks, [&](int distance, double stands_for) {
        rounds.push_back(shift(ranks, distance, 1.0 / ranks));
        rounds.back().times = stands_for;
        rounds.back().reduced = reduces ? 1.0 / ranks : 0;
    });
    return rounds;
}

Rounds all_to_all_at_once(int ranks) {
    Round round;
    for_distances(ranks, [&](int distance, double stands_for) {
        for (Message message : shift(ranks, distance, 1.0 / ranks).messages) {
            message.count = stands_for;
            round.messages.push_back(message);
        }
    });
    return {round};
}

/// A tree as the children of each rank, in the order in which they are served.
using Tree = std::vector<std::vector<int>>;

Tree binomial_tree(int ranks) {
    Tree children(static_cast<std::size_t>(ranks));
    for (int rank = 0; rank < ranks; ++rank) {
        for (int distance = 1; rank + distance < ranks; distance *= 2) {
            if (distance > rank) {
                children[static_cast<std::size_t>(rank)].push_back(rank + distance);
            }
        }
    }
    return children;
}

/// The parent of a rank is the rank with its lowest digit that is not zero set to zero.
Tree knomial_tree(int ranks) {
    Tree children(static_cast<std::size_t>(ranks));
    for (int rank = 0; rank < ranks; ++rank) {
        int top = 1;
        while (rank == 0 ? top < ranks : rank / top % knomial_radix == 0) {
            top *= knomial_radix;
        }
        for (int digit = top / knomial_radix; digit > 0; digit /= knomial_radix) {
            for (int times = 1; times < knomial_radix && rank + times * digit < ranks; ++times) {
                children[static_cast<std::size_t>(rank)].push_back(rank + times * digit);
            }
        }
    }
    return children;
}

Tree binary_tree(int ranks) {
    Tree children(static_cast<std::size_t>(ranks));
    for (int rank = 1; rank < ranks; ++rank) {
        children[static_cast<std::size_t>((rank - 1) / 2)].push_back(rank);
    }
    return children;
}

Tree chain_tree(int ranks, int fan) {
    Tree children(static_cast<std::size_t>(ranks));
    int const others = ranks - 1;
    int first = 1;
    for (int chain = 0; chain < fan && first < ranks; ++chain) {
        int const length = others / fan + (chain < others % fan ? 1 : 0);
        for (int rank = first; rank < first + length; ++rank) {
            children[static_cast<std::size_t>(rank == first ? 0 : rank - 1)].push_back(rank);
        }
        first += length;
    }
    return children;
}

/// A rank passes the vector on when it has it: to all its children at once, or to one after another.
Rounds down(Tree const& children, double share, bool at_once = true) {
    Rounds rounds;
    std::vector<std::pair<int, std::size_t>> queue{{0, 0}};  // rank, round in which it has the vector
    for (std::size_t at = 0; at < queue.size(); ++at) {
        auto const [rank, round] = queue[at];
        std::size_t when = round;
        for (int const child : children[static_cast<std::size_t>(rank)]) {
            if (rounds.size() <= when) {
                rounds.resize(when + 1);
            }
            rounds[when].messages.push_back({rank, child, share});
            queue.emplace_back(child, when + 1);
            when += at_once ? 0 : 1;
        }
    }
    return rounds;
}

/// Parents reduce what arrives, one vector after another.
Rounds up(Tree const& children) {
    Rounds rounds = reversed(down(children, 1, false));
    for (Round& round : rounds) {
        round.reduced = 1;
    }
    return rounds;
}

/// The same in segments that follow each other closely: every rank is busy with its two children and its parent all the
/// time, and the levels of the tree only add the latency of a segment each.
Rounds pipelined_up(Tree const& children) {
    Rounds rounds = up(children);
    Round together;
    for (Round& round : rounds) {
        for (Message& message : round.messages) {
            together.messages.push_back(message);
            message.share = 0;
        }
        round.reduced = 0;
    }
    together.reduced = 2;
    rounds.push_back(std::move(together));
    return rounds;
}

Rounds binomial_scatter(int ranks) {
    Rounds rounds;
    int top = floor_power(ranks);
    top = top < ranks ? 2 * top : top;
    for (int distance = top / 2; distance > 0; distance /= 2) {
        Round round;
        for (int rank = 0; rank + distance < ranks; rank += 2 * distance) {
            int const blocks = std::min(distance, ranks - rank - distance);
            round.messages.push_back({rank, rank + distance, static_cast<double>(blocks) / ranks});
        }
        rounds.push_back(std::move(round));
    }
    return rounds;
}

/// From the root to every other rank.
Rounds star(int ranks, double share) {
    Round round;
    for (int rank = 1; rank < ranks; ++rank) {
        round.messages.push_back({0, rank, share});
    }
    return {round};
}

Rounds gather_bcast(int ranks) {
    Rounds rounds = reversed(star(ranks, 1.0 / ranks));
    append(rounds, down(binary_tree(ranks), 0));
    Round together;  // the segments of the broadcast
    for (int rank = 1; rank < ranks; ++rank) {
        together.messages.push_back({rank - 1, rank, 1});
    }
    rounds.push_back(std::move(together));
    return rounds;
}

Rounds split_binary(int ranks) {
    Rounds rounds = down(binary_tree(ranks), 0.5);
    // A rank of the left half of the tree and its mirror in the right half have the two halves of the vector.
    Round swap;
    for (int first = 1; first < ranks; first = 2 * first + 1) {
        int const width = (first + 1) / 2;  // of one half of this level
        for (int rank = first; rank < std::min(first + width, ranks); ++rank) {
            int const mirror = rank + width < ranks ? rank + width : 0;
            swap.messages.push_back({rank, mirror, 0.5});
            swap.messages.push_back({mirror, rank, 0.5});
        }
    }
    rounds.push_back(std::move(swap));
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

Rounds allgather(Algorithm algorithm, int ranks) {
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
        return up(binomial_tree(ranks));
    case Algorithm::binary:
        return pipelined_up(binary_tree(ranks));
    case Algorithm::chain:
        return up(chain_tree(ranks, chains));
    case Algorithm::pipeline:
        return up(chain_tree(ranks, 1));
    case Algorithm::linear:
        rounds = reversed(star(ranks, 1));
        rounds.front().reduced = ranks - 1;
        return rounds;
    case Algorithm::rabenseifner:
        folded.fold(rounds, 1, 1);
        append(rounds, halving(folded, true));
        append(rounds, reversed(binomial_scatter(folded.left())));
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

Algorithm algorithm_that_runs(Collective collective, Algorithm algorithm, double bytes, int ranks) {
    return collective == Collective::allreduce && algorithm == Algorithm::ring && bytes < bytes_of_element * ranks
               ? Algorithm::recursive_doubling
               : algorithm;
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
