// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/tools/predict/schedule/rounds.hpp"

#include <algorithm>
#include <utility>

namespace dlmb::predict {
namespace {

constexpr int knomial_radix = 4;

}  // namespace

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

Tree in_order_binomial_tree(int ranks) {
    Tree children(static_cast<std::size_t>(ranks));
    for (int distance = floor_power(ranks); distance > 0; distance /= 2) {
        for (int rank = 0; rank + distance < ranks; rank += 2 * distance) {
            children[static_cast<std::size_t>(rank)].push_back(rank + distance);
        }
    }
    return children;
}

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
    for (int rank = 0; rank < ranks; ++rank) {
        int const level = floor_power(rank + 1);  // ranks of this level
        for (int const child : {rank + level, rank + 2 * level}) {
            if (child < ranks) {
                children[static_cast<std::size_t>(rank)].push_back(child);
            }
        }
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

namespace {

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

}  // namespace

Rounds down(Tree const& children, double share, bool at_once) {
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

Rounds up(Tree const& children) {
    Rounds rounds = reversed(down(children, 1, false));
    for (Round& round : rounds) {
        round.reduced = 1;
    }
    return rounds;
}

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

}  // namespace dlmb::predict
