// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// The catalogue of schedules: exchanges between all ranks, then trees from one rank to all others and back.
//
// Sources: Thakur, Rabenseifner, Gropp, "Optimization of Collective Communication Operations in MPICH", 2005; Bruck et
// al., "Efficient algorithms for all-to-all communications", 1997; Chan et al., "Collective communication: theory,
// practice, and experience", 2007; the orders of partners as Open MPI 4.1 has them.
#include "common/base/error.hpp"
#include "common/tools/predict/schedule.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <numeric>
#include <utility>

namespace dlmb::predict {
namespace {

using Rounds = std::vector<Round>;

/// The largest power of two that is not above `ranks`.
int floor_power(int ranks) {
    return static_cast<int>(std::bit_floor(static_cast<unsigned>(ranks)));
}

Rounds then(Rounds rounds, Rounds more) {
    std::move(more.begin(), more.end(), std::back_inserter(rounds));
    return rounds;
}

/// The same messages backwards, the last round first.
Rounds reversed(Rounds rounds) {
    std::reverse(rounds.begin(), rounds.end());
    for (Round& round : rounds) {
        for (Message& message : round.messages) {
            std::swap(message.from, message.to);
        }
    }
    return rounds;
}

/// In each round the busiest rank reduces this share.
Rounds reducing(Rounds rounds, double share) {
    for (Round& round : rounds) {
        round.reduced = share;
    }
    return rounds;
}

/// For each distance from 1 to P - 1, or for 64 of them: use(distance, for how many distances it stands).
void for_distances(int ranks, std::function<void(int, double)> const& use) {
    constexpr int most_distances = 64;
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

/// The busiest rank copies this share of the vector in the first of these rounds, all times of it together.
Rounds copying_first(Rounds rounds, double share) {
    rounds.front().copied += share / rounds.front().times;
    return rounds;
}

/// Every rank sends the share to the rank `distance` further on.
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
    [[nodiscard]] Rounds fold(double share, double reduced) const {
        Round round;
        for (int pair = 0; pair < pairs_; ++pair) {
            round.messages.push_back({2 * pair, 2 * pair + 1, share});
        }
        round.reduced = reduced;
        return pairs_ > 0 ? Rounds{std::move(round)} : Rounds{};
    }
    [[nodiscard]] Rounds unfold(double share) const { return reversed(fold(share, 0)); }
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

/// `between` the ranks that are left when those beyond a power of two have given theirs their vector, and have got it,
/// or this share of it, back.
Rounds within(Folded const& folded, Rounds between, double share_back) {
    Rounds rounds = then(then(folded.fold(1, 1), std::move(between)), folded.unfold(share_back));
    return copying_first(std::move(rounds), 1);  // of the input, which stays as it is
}

Rounds doubling_allreduce(int ranks) {
    Folded const folded(ranks);
    Rounds doubling;
    for (int distance = 1; distance < folded.left(); distance *= 2) {
        doubling.push_back(folded.exchange(distance, 1));
    }
    Rounds rounds = within(folded, reducing(std::move(doubling), 1), 1);
    rounds.back().copied += 1;  // of the result: the last rank has it in temporary memory
    return rounds;
}

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
Rounds halving_reduce_scatter(int ranks, bool nearest_first) {
    Folded const folded(ranks);
    return within(folded, halving(folded, nearest_first), 1.0 / ranks);
}
Rounds halving_allreduce(int ranks) {
    Folded const folded(ranks);
    Rounds const there = halving(folded, true);
    return within(folded, then(there, reducing(reversed(there), 0)), 1);
}

/// A reduce_scatter by buckets (Jain, Sabharwal: Optimal bucket algorithms for large MPI collectives on torus
/// interconnects, 2010): the part that the ring of one dimension leaves is divided by that of the next one.
Rounds bucket(Extents const& extents) {
    int const ranks = std::accumulate(extents.begin(), extents.end(), 1, std::multiplies<>());
    Rounds rounds;
    double share = 1;
    int stride = 1;
    for (std::size_t dimension = extents.size(); dimension-- > 0; stride *= extents[dimension]) {
        int const extent = extents[dimension];
        share /= extent;
        Round round;
        for (int rank = 0; rank < ranks && extent > 1; ++rank) {
            int const at = rank / stride % extent;
            round.messages.push_back({rank, rank + ((at + 1) % extent - at) * stride, share});
        }
        round.times = extent - 1;
        round.reduced = share;
        if (extent > 1) {
            rounds.push_back(std::move(round));
        }
    }
    return rounds;
}
Rounds bucket_reduce_scatter(Extents const& extents) {
    return copying_first(bucket(extents), 1);
}
Rounds bucket_allgather(Extents const& extents) {
    return reducing(reversed(bucket(extents)), 0);
}

/// Throws UsageError for an odd number of ranks.
Rounds neighbor_exchange(int ranks) {
    if (ranks % 2 != 0) {
        throw UsageError(fmt::format("neighbor exchange needs an even number of ranks, not {}", ranks));
    }
    Rounds rounds;
    auto const exchange = [&](int first, double blocks, int times) {
        Round round;
        round.times = times;
        round.both_ways = true;
        for (int rank = first; rank < ranks + first; rank += 2) {
            int const left = rank % ranks;
            int const right = (rank + 1) % ranks;
            round.messages.push_back({left, right, blocks / ranks});
            round.messages.push_back({right, left, blocks / ranks});
        }
        if (times > 0) {
            rounds.push_back(std::move(round));
        }
    };
    exchange(0, 1, 1);
    exchange(1, 2, ranks / 4);
    exchange(0, 2, (ranks - 2) / 4);
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

Rounds pairwise(int ranks, bool reduces) {
    Rounds rounds;
    for_distances(ranks, [&](int distance, double stands_for) {
        rounds.push_back(shift(ranks, distance, 1.0 / ranks));
        rounds.back().times = stands_for;
    });
    return reducing(std::move(rounds), reduces ? 1.0 / ranks : 0);
}

Rounds all_at_once(int ranks) {
    Round round;
    for_distances(ranks, [&](int distance, double stands_for) {
        for (Message message : shift(ranks, distance, 1.0 / ranks).messages) {
            message.count = stands_for;
            round.messages.push_back(message);
        }
    });
    return {round};
}

/// Halves the vector with the nearest partner first, and brings the parts to rank 0.
Rounds halving_reduce(int ranks) {
    Folded const folded(ranks);
    Rounds rounds = then(folded.fold(1, 1), halving(folded, true));
    for (int distance = folded.left() / 2; distance > 0; distance /= 2) {
        Round round;  // in the reverse order of partners
        for (int place = 0; place < distance; ++place) {
            round.messages.push_back({folded.rank(place + distance), folded.rank(place), 0.5 / distance});
        }
        rounds.push_back(std::move(round));
    }
    return rounds;
}

/// Each rank copies its own block into the result.
Rounds copying_block(Rounds rounds, int ranks) {
    return copying_first(std::move(rounds), 1.0 / ranks);
}

Rounds doubling_allgather(int ranks) {
    // Parts of the P - q folded ranks travel with those of their neighbours.
    Folded const folded(ranks);
    Rounds rounds = folded.fold(1.0 / ranks, 0);
    for (int distance = 1; distance < folded.left(); distance *= 2) {
        rounds.push_back(folded.exchange(distance, static_cast<double>(distance) / folded.left()));
    }
    return then(std::move(rounds), folded.unfold(1));
}

Rounds ring(int ranks, bool reduces) {
    Round round = shift(ranks, 1, 1.0 / ranks);
    round.times = ranks - 1;
    round.reduced = reduces ? 1.0 / ranks : 0;
    return {round};
}

/// The children of each rank, in the order in which they are served.
using Tree = std::vector<std::vector<int>>;

/// `children_of` calls add(child) for each child of a rank.
template <class ChildrenOf>
Tree tree_of(int ranks, ChildrenOf const& children_of) {
    Tree tree(static_cast<std::size_t>(ranks));
    for (int rank = 0; rank < ranks; ++rank) {
        children_of(rank, [&](int child) { tree[static_cast<std::size_t>(rank)].push_back(child); });
    }
    return tree;
}

/// A rank's children are at the powers of two above it: the tree of Open MPI's broadcast.
Tree binomial_tree(int ranks) {
    return tree_of(ranks, [ranks](int rank, auto const& add) {
        for (int distance = 1; rank + distance < ranks; distance *= 2) {
            if (distance > rank) {
                add(rank + distance);
            }
        }
    });
}

/// The parent of a rank is the rank with its lowest digit that is not zero set to zero, so that subtrees are
/// neighbours. Of radix 2 the tree of a reduction, in Open MPI and in MPICH.
Tree knomial_tree(int ranks, int radix) {
    return tree_of(ranks, [ranks, radix](int rank, auto const& add) {
        int top = 1;
        while (rank == 0 ? top < ranks : rank / top % radix == 0) {
            top *= radix;
        }
        for (int digit = top / radix; digit > 0; digit /= radix) {
            for (int times = 1; times < radix && rank + times * digit < ranks; ++times) {
                add(rank + times * digit);
            }
        }
    });
}

/// A level of n ranks is followed by 2 n; a rank's children are n and 2 n further on (ompi_coll_base_topo_build_tree).
Tree binary_tree(int ranks) {
    return tree_of(ranks, [ranks](int rank, auto const& add) {
        int const level = floor_power(rank + 1);  // ranks of this level
        for (int const child : {rank + level, rank + 2 * level}) {
            if (child < ranks) {
                add(child);
            }
        }
    });
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

/// How many messages of the same rank each message of the longest way follows, in all. A rank sends to its children in
/// their order: the first one, which has the most below it, does not wait for the others.
int queued_on_longest_way(Tree const& children) {
    constexpr double of_round = 0.5;  // of the time of a round, that a further message of a rank takes
    std::vector<std::pair<double, int>> ways(children.size());  // rounds, further messages
    std::vector<int> order{0};
    std::pair<double, int> longest;
    for (std::size_t at = 0; at < order.size(); ++at) {
        auto const& [time, waits] = ways[static_cast<std::size_t>(order[at])];
        int before = 0;
        for (int const child : children[static_cast<std::size_t>(order[at])]) {
            ways[static_cast<std::size_t>(child)] = {time + 1 + of_round * before, waits + before};
            longest = std::max(longest, ways[static_cast<std::size_t>(child)]);
            order.push_back(child);
            ++before;
        }
    }
    return longest.second;
}

/// A rank passes the vector on when it has it: to all its children at once, or to one after another.
Rounds down(Tree const& children, double share = 1, bool at_once = true) {
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
    double const waits = at_once ? queued_on_longest_way(children) : 0;
    for (Round& round : rounds) {
        round.queued = 1 + waits / static_cast<double>(rounds.size());
    }
    return rounds;
}

/// Parents reduce what arrives, one vector after another.
Rounds up(Tree const& children) {
    return reducing(reversed(down(children, 1, false)), 1);
}

/// The same in segments that follow each other closely: every rank is busy with its children and its parent all the
/// time, and the levels of the tree only add the latency of a segment each.
Rounds pipelined_up(Tree const& children) {
    Rounds rounds = reducing(up(children), 0);
    Round together;
    for (Round& round : rounds) {
        for (Message& message : round.messages) {
            together.messages.push_back(message);
            message.share = 0;
        }
    }
    for (auto const& of_rank : children) {
        together.reduced = std::max(together.reduced, static_cast<double>(of_rank.size()));
    }
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

Rounds split_binary(int ranks) {
    Rounds rounds = down(binary_tree(ranks), 0.5);
    // Odd ranks are the left half of the tree and have the left half of the vector. The last one has no neighbour.
    Round swap;
    for (int rank = 1; rank < ranks; rank += 2) {
        int const other = rank + 1 < ranks ? rank + 1 : 0;
        swap.messages.push_back({rank, other, 0.5});
        swap.messages.push_back({other, rank, 0.5});
    }
    rounds.push_back(std::move(swap));
    return rounds;
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

/// From rank 0 to every other rank at once.
Rounds star(int ranks, double share) {
    Round round;
    for (int rank = 1; rank < ranks; ++rank) {
        round.messages.push_back({0, rank, share});
    }
    return {round};
}

Rounds star_up(int ranks) {
    return reducing(reversed(star(ranks, 1)), ranks - 1);
}

/// All to rank 0, and a broadcast down a binary tree in segments.
Rounds gather_bcast(int ranks) {
    Rounds rounds = then(reversed(star(ranks, 1.0 / ranks)), down(binary_tree(ranks), 0));
    Round together;  // the segments of the broadcast
    for (int rank = 1; rank < ranks; ++rank) {
        together.messages.push_back({rank - 1, rank, 1});
    }
    rounds.push_back(std::move(together));
    return rounds;
}

}  // namespace

std::span<ScheduleRow const> schedules() {
    using K = OperationKind;
    static constexpr ScheduleRow rows[] = {
        {K::all_reduce, "recursive_doubling", 1, doubling_allreduce},
        {K::all_reduce, "rabenseifner", 1, halving_allreduce},
        {K::all_reduce, "ring", 0, [](int p) { return then(copying_first(ring(p, true), 1), ring(p, false)); }},
        {K::all_reduce, "bucket", 1, nullptr,
         [](Extents const& torus) { return then(bucket_reduce_scatter(torus), bucket_allgather(torus)); }},
        {K::all_gather, "recursive_doubling", 0, [](int p) { return copying_block(doubling_allgather(p), p); }},
        {K::all_gather, "ring", 0, [](int p) { return copying_block(ring(p, false), p); }},
        {K::all_gather, "bucket", 0, nullptr, bucket_allgather},
        {K::all_gather, "neighbor_exchange", 0, [](int p) { return copying_block(neighbor_exchange(p), p); }},
        {K::all_gather, "bruck", 1, [](int p) { return copying_block(bruck_allgather(p), p); }},
        {K::all_gather, "linear", 0, [](int p) { return copying_block(all_at_once(p), p); }},
        {K::reduce_scatter, "recursive_halving", 2, [](int p) { return halving_reduce_scatter(p, false); }},
        {K::reduce_scatter, "distance_doubling", 2, [](int p) { return halving_reduce_scatter(p, true); }},
        {K::reduce_scatter, "ring", 1, [](int p) { return copying_first(ring(p, true), 1); }},
        {K::reduce_scatter, "bucket", 2, nullptr, bucket_reduce_scatter},
        {K::reduce_scatter, "pairwise", 0, [](int p) { return pairwise(p, true); }},
        {K::exchange, "bruck", 1, bruck_alltoall},
        {K::exchange, "pairwise", 0, [](int p) { return pairwise(p, false); }},
        {K::exchange, "linear", 0, all_at_once},
        {K::exchange, "linear_sync", 0, all_at_once},
        {K::reduce, "rabenseifner", 2, halving_reduce},
        {K::send, "ring", 0, [](int p) { return Rounds{shift(p, 1, 1)}; }},
        {K::all_reduce, "linear", 1, [](int p) { return then(star_up(p), star(p, 1)); }},
        {K::all_gather, "gather_bcast", 0, [](int p) { return copying_block(gather_bcast(p), p); }},
        {K::broadcast, "binomial", 0, [](int p) { return down(binomial_tree(p)); }},
        {K::broadcast, "binary", 0, [](int p) { return down(binary_tree(p)); }},
        {K::broadcast, "knomial", 0, [](int p) { return down(knomial_tree(p, 4)); }},
        {K::broadcast, "split_binary", 0, split_binary},
        {K::broadcast, "chain", 0, [](int p) { return down(chain_tree(p, 4)); }},
        {K::broadcast, "three_chains", 0, [](int p) { return down(chain_tree(p, 3)); }},
        {K::broadcast, "pipeline", 0, [](int p) { return down(chain_tree(p, 1)); }},
        {K::broadcast, "linear", 0, [](int p) { return star(p, 1); }},
        {K::broadcast, "scatter_allgather", 0, [](int p) { return then(binomial_scatter(p), doubling_allgather(p)); }},
        {K::broadcast, "scatter_allgather_ring", 0, [](int p) { return then(binomial_scatter(p), ring(p, false)); }},
        {K::reduce, "binomial", 1, [](int p) { return up(knomial_tree(p, 2)); }},
        {K::reduce, "binary", 1, [](int p) { return up(binary_tree(p)); }},
        {K::reduce, "binomial_pipelined", 1, [](int p) { return pipelined_up(knomial_tree(p, 2)); }},
        {K::reduce, "binary_pipelined", 1, [](int p) { return pipelined_up(binary_tree(p)); }},
        {K::reduce, "chain", 1, [](int p) { return up(chain_tree(p, 4)); }},
        {K::reduce, "three_chains", 1, [](int p) { return up(chain_tree(p, 3)); }},
        {K::reduce, "pipeline", 1, [](int p) { return up(chain_tree(p, 1)); }},
        {K::reduce, "linear", 1, star_up},
        {K::scatter, "binomial", 0.5, binomial_scatter},
        {K::scatter, "linear", 0, [](int p) { return star(p, 1.0 / p); }},
        {K::gather, "binomial", 0.5, [](int p) { return reversed(binomial_scatter(p)); }},
        {K::gather, "linear", 0, [](int p) { return reversed(star(p, 1.0 / p)); }},
        {K::gather, "linear_sync", 0, asked_one_by_one},
    };
    return rows;
}

}  // namespace dlmb::predict
