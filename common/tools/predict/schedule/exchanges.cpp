// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/base/error.hpp"
#include "common/tools/predict/schedule/rounds.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <numeric>
#include <utility>

namespace dlmb::predict {

int floor_power(int ranks) {
    return static_cast<int>(std::bit_floor(static_cast<unsigned>(ranks)));
}

Rounds then(Rounds rounds, Rounds more) {
    std::move(more.begin(), more.end(), std::back_inserter(rounds));
    return rounds;
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

Rounds reducing(Rounds rounds, double share) {
    for (Round& round : rounds) {
        round.reduced = share;
    }
    return rounds;
}

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

namespace {

/// The busiest rank copies this share of the vector in the first of these rounds, all times of it together.
Rounds copying_first(Rounds rounds, double share) {
    rounds.front().copied += share / rounds.front().times;
    return rounds;
}

/// Each rank copies its own block into the result.
Rounds copying_block(Rounds rounds, int ranks) {
    return copying_first(std::move(rounds), 1.0 / ranks);
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

/// Between the ranks that are left when those beyond a power of two have given theirs their vector, and have got it, or
/// this share of it, back.
Rounds folded(int ranks, Rounds (*between)(Folded const&), double share_back) {
    Folded const folded(ranks);
    Rounds rounds = then(then(folded.fold(1, 1), between(folded)), folded.unfold(share_back));
    return copying_first(std::move(rounds), 1);  // of the input, which stays as it is
}

Rounds doubling_allreduce(int ranks) {
    auto const doubling = [](Folded const& folded) {
        Rounds rounds;
        for (int distance = 1; distance < folded.left(); distance *= 2) {
            rounds.push_back(folded.exchange(distance, 1));
        }
        return reducing(std::move(rounds), 1);
    };
    Rounds rounds = folded(ranks, doubling, 1);
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
Rounds halving_from_nearest(Folded const& folded) {
    return halving(folded, true);
}
Rounds halving_from_farthest(Folded const& folded) {
    return halving(folded, false);
}
Rounds halving_allreduce(Folded const& folded) {
    return then(halving_from_nearest(folded), reducing(reversed(halving_from_nearest(folded)), 0));
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

}  // namespace

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

Rounds halving_reduce(int ranks) {
    Folded const folded(ranks);
    Rounds rounds = then(folded.fold(1, 1), halving_from_nearest(folded));
    for (int distance = folded.left() / 2; distance > 0; distance /= 2) {
        Round round;  // in the reverse order of partners
        for (int place = 0; place < distance; ++place) {
            round.messages.push_back({folded.rank(place + distance), folded.rank(place), 0.5 / distance});
        }
        rounds.push_back(std::move(round));
    }
    return rounds;
}

std::span<ScheduleRow const> exchange_schedules() {
    using C = Collective;
    static constexpr ScheduleRow rows[] = {
        {C::allreduce, "recursive_doubling", 1, doubling_allreduce},
        {C::allreduce, "rabenseifner", 1, [](int p) { return folded(p, halving_allreduce, 1); }},
        {C::allreduce, "ring", 0, [](int p) { return then(copying_first(ring(p, true), 1), ring(p, false)); }},
        {C::allreduce, "bucket", 1, nullptr,
         [](Extents const& torus) { return then(bucket_reduce_scatter(torus), bucket_allgather(torus)); }},
        {C::allreduce, "linear", 1, [](int p) { return then(star_up(p), star(p, 1)); }},
        {C::allgather, "recursive_doubling", 0, [](int p) { return copying_block(doubling_allgather(p), p); }},
        {C::allgather, "ring", 0, [](int p) { return copying_block(ring(p, false), p); }},
        {C::allgather, "bucket", 0, nullptr, bucket_allgather},
        {C::allgather, "neighbor_exchange", 0, [](int p) { return copying_block(neighbor_exchange(p), p); }},
        {C::allgather, "bruck", 1, [](int p) { return copying_block(bruck_allgather(p), p); }},
        {C::allgather, "linear", 0, [](int p) { return copying_block(all_at_once(p), p); }},
        {C::allgather, "gather_bcast", 0, [](int p) { return copying_block(gather_bcast(p), p); }},
        {C::reduce_scatter, "recursive_halving", 2, [](int p) { return folded(p, halving_from_farthest, 1.0 / p); }},
        {C::reduce_scatter, "distance_doubling", 2, [](int p) { return folded(p, halving_from_nearest, 1.0 / p); }},
        {C::reduce_scatter, "ring", 1, [](int p) { return copying_first(ring(p, true), 1); }},
        {C::reduce_scatter, "bucket", 2, nullptr, bucket_reduce_scatter},
        {C::reduce_scatter, "pairwise", 0, [](int p) { return pairwise(p, true); }},
        {C::alltoall, "bruck", 1, bruck_alltoall},
        {C::alltoall, "pairwise", 0, [](int p) { return pairwise(p, false); }},
        {C::alltoall, "linear", 0, all_at_once},
        {C::alltoall, "linear_sync", 0, all_at_once},
        {C::sendrecv, "ring", 0, [](int p) { return Rounds{shift(p, 1, 1)}; }},
    };
    return rows;
}

}  // namespace dlmb::predict
