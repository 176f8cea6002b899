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
namespace {

constexpr int most_distances = 64;

}  // namespace

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

void Folded::fold(Rounds& rounds, double share, double reduced) const {
    if (pairs_ > 0) {
        Round round;
        for (int pair = 0; pair < pairs_; ++pair) {
            round.messages.push_back({2 * pair, 2 * pair + 1, share});
        }
        round.reduced = reduced;
        rounds.push_back(std::move(round));
    }
}

void Folded::unfold(Rounds& rounds, double share) const {
    Rounds back;
    fold(back, share, 0);
    append(rounds, reversed(std::move(back)));
}

Round Folded::exchange(int distance, double share) const {
    Round round;
    for (int place = 0; place < left_; ++place) {
        round.messages.push_back({rank(place), rank(place ^ distance), share});
    }
    round.both_ways = true;
    return round;
}

Rounds halving(Folded const& folded, bool nearest_first) {
    Rounds rounds;
    double share = 0.5;
    for (int step = 1; step < folded.left(); step *= 2, share /= 2) {
        rounds.push_back(folded.exchange(nearest_first ? step : folded.left() / 2 / step, share));
        rounds.back().reduced = share;
    }
    return rounds;
}

Rounds gather_after_halving(Folded const& folded) {
    Rounds rounds;
    for (int distance = folded.left() / 2; distance > 0; distance /= 2) {
        Round round;
        for (int place = 0; place < distance; ++place) {
            round.messages.push_back({folded.rank(place + distance), folded.rank(place), 0.5 / distance});
        }
        rounds.push_back(std::move(round));
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

}  // namespace dlmb::predict
