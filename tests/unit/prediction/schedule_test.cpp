// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
// Rounds, messages and bytes of the schedules against closed forms, and against the plans that the backends run.
#include "common/base/error.hpp"
#include "common/formats/plan/algorithms/algorithms.hpp"
#include "common/tools/predict/schedule.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <iterator>
#include <set>
#include <utility>

namespace dlmb::predict {
namespace {

double rounds_in(std::vector<Round> const& rounds) {
    double count = 0;
    for (Round const& round : rounds) {
        count += round.times;
    }
    return count;
}

/// Share of the vector that rank `rank` sends; of all ranks for -1.
double sent(std::vector<Round> const& rounds, int rank = -1) {
    double share = 0;
    for (Round const& round : rounds) {
        for (Message const& message : round.messages) {
            share += rank == -1 || message.from == rank ? round.times * message.count * message.share : 0;
        }
    }
    return share;
}

double messages_in(std::vector<Round> const& rounds) {
    double count = 0;
    for (Round const& round : rounds) {
        for (Message const& message : round.messages) {
            count += round.times * message.count;
        }
    }
    return count;
}

/// What is reduced, or copied, in all rounds.
double sum_of(std::vector<Round> const& rounds, double Round::*share) {
    double sum = 0;
    for (Round const& round : rounds) {
        sum += round.times * round.*share;
    }
    return sum;
}

constexpr double close = 1e-9;

TEST(Schedule, OfARingHasTwoTimesAllOtherPartsInAsManyRounds) {
    for (int ranks = 2; ranks <= 33; ++ranks) {
        auto const rounds = schedule_of(OperationKind::all_reduce, "ring", {ranks});
        EXPECT_EQ(rounds_in(rounds), 2 * (ranks - 1));
        for (int rank = 0; rank < ranks; ++rank) {
            EXPECT_NEAR(sent(rounds, rank), 2.0 * (ranks - 1) / ranks, close);
        }
        EXPECT_NEAR(sum_of(rounds, &Round::reduced), (ranks - 1.0) / ranks, close);
    }
}

TEST(Schedule, OfBucketsIsARingPerDimensionOfThePartThatTheRingBeforeLeft) {
    auto const rounds = schedule_of(OperationKind::all_reduce, "bucket", Extents{2, 1, 4});
    ASSERT_EQ(rounds.size(), 4U) << "two dimensions, there and back";
    EXPECT_EQ(rounds[0].times, 3);
    EXPECT_EQ(rounds[0].messages[3].to, 0) << "around the ring of the last dimension";
    EXPECT_EQ(rounds[0].messages[7].to, 4);
    EXPECT_NEAR(rounds[0].messages[0].share, 1.0 / 4, close);
    EXPECT_EQ(rounds[1].times, 1);
    EXPECT_EQ(rounds[1].messages[1].to, 5);
    EXPECT_NEAR(rounds[1].messages[1].share, 1.0 / 8, close);
    EXPECT_NEAR(rounds[1].reduced, 1.0 / 8, close);
    EXPECT_EQ(rounds[2].reduced, 0) << "the allgather goes the way back";
    EXPECT_EQ(rounds[2].messages[1].to, 1);
    EXPECT_EQ(schedule_of(OperationKind::all_gather, "bucket", Extents{8, 8, 8}).size(), 3U);
    EXPECT_EQ(algorithm_of(OperationKind::all_reduce, "RING-B_CONT-UTOFU-0-6")->algorithm, "bucket");
}

TEST(Schedule, OfPowersOfTwoHaveTheFormsOfThakurRabenseifnerAndGropp) {
    for (int ranks = 2; ranks <= 1024; ranks *= 2) {
        int const log = std::countr_zero(static_cast<unsigned>(ranks));
        double const others = (ranks - 1.0) / ranks;
        auto const doubling = schedule_of(OperationKind::all_reduce, "recursive_doubling", {ranks});
        EXPECT_EQ(rounds_in(doubling), log);
        EXPECT_NEAR(sent(doubling, 0), log, close);
        EXPECT_NEAR(sum_of(doubling, &Round::reduced), log, close);
        auto const rabenseifner = schedule_of(OperationKind::all_reduce, "rabenseifner", {ranks});
        EXPECT_EQ(rounds_in(rabenseifner), 2 * log);
        EXPECT_NEAR(sent(rabenseifner, ranks - 1), 2 * others, close);
        EXPECT_NEAR(sum_of(rabenseifner, &Round::reduced), others, close);
        for (std::string_view const algorithm : {"recursive_halving", "distance_doubling"}) {
            auto const halving = schedule_of(OperationKind::reduce_scatter, algorithm, {ranks});
            EXPECT_EQ(rounds_in(halving), log);
            EXPECT_NEAR(sent(halving, 1), others, close);
        }
        for (std::string_view const algorithm : {"recursive_doubling", "bruck"}) {
            auto const gathering = schedule_of(OperationKind::all_gather, algorithm, {ranks});
            EXPECT_EQ(rounds_in(gathering), log);
            EXPECT_NEAR(sent(gathering, 0), others, close);
        }
        auto const bruck = schedule_of(OperationKind::exchange, "bruck", {ranks});
        EXPECT_EQ(rounds_in(bruck), log);
        EXPECT_NEAR(sent(bruck, 0), log / 2.0, close) << "half of the blocks in each round";
        auto const scattering = schedule_of(OperationKind::scatter, "binomial", {ranks});
        EXPECT_EQ(rounds_in(scattering), log);
        EXPECT_NEAR(sent(scattering, 0), others, close);
    }
}

TEST(Schedule, OfAReductionByRabenseifnerGathersWithThePartnersOfItsHalvingInReverse) {
    for (int const ranks : {8, 60}) {
        std::set<std::pair<int, int>> halved;
        std::vector<Round> const rounds = schedule_of(OperationKind::reduce, "rabenseifner", {ranks});
        auto const first =
            std::find_if(rounds.begin(), rounds.end(), [](Round const& round) { return round.reduced == 0; });
        for (Message const& message : std::prev(first)->messages) {
            halved.emplace(message.from, message.to);
        }
        for (Message const& message : first->messages) {
            EXPECT_TRUE(halved.contains({message.from, message.to})) << message.from << " to " << message.to;
        }
        EXPECT_EQ(first->messages.size() * 2, halved.size()) << "each gives, or takes";
    }
}

TEST(Schedule, CopiesWhatOpenMpiCopies) {
    for (int const ranks : {2, 7, 64}) {
        auto const copied = [ranks](OperationKind collective, std::string_view algorithm) {
            return sum_of(schedule_of(collective, algorithm, {ranks}), &Round::copied);
        };
        EXPECT_NEAR(copied(OperationKind::all_gather, "ring"), 1.0 / ranks, close) << "the own block";
        EXPECT_NEAR(copied(OperationKind::all_gather, "recursive_doubling"), 1.0 / ranks, close);
        EXPECT_NEAR(copied(OperationKind::all_reduce, "ring"), 1, close) << "the input";
        EXPECT_NEAR(copied(OperationKind::all_reduce, "recursive_doubling"), 2, close) << "and the result";
    }
}

TEST(Schedule, OfARecursiveDoublingFoldsTheRanksBeyondAPowerOfTwo) {
    for (int ranks : {3, 5, 6, 7, 100, 254}) {
        auto const rounds = schedule_of(OperationKind::all_reduce, "recursive_doubling", {ranks});
        int const left = static_cast<int>(std::bit_floor(static_cast<unsigned>(ranks)));
        EXPECT_EQ(rounds_in(rounds), std::log2(left) + 2);
        EXPECT_NEAR(sent(rounds), left * std::log2(left) + 2 * (ranks - left), close);
    }
}

TEST(Schedule, OfATreeReachesEveryRankOnceAfterItsParent) {
    for (std::string_view const algorithm : {"binomial", "binary", "knomial", "chain", "pipeline", "linear"}) {
        for (int ranks = 2; ranks <= 70; ++ranks) {
            std::set<int> reached{0};
            for (Round const& round : schedule_of(OperationKind::broadcast, algorithm, {ranks})) {
                std::set<int> now;
                for (Message const& message : round.messages) {
                    EXPECT_TRUE(reached.contains(message.from));
                    EXPECT_FALSE(reached.contains(message.to) || now.contains(message.to));
                    now.insert(message.to);
                }
                reached.merge(now);
            }
            EXPECT_EQ(reached.size(), static_cast<std::size_t>(ranks)) << algorithm << " of " << ranks;
        }
    }
}

TEST(Schedule, OfATreeHasTheDepthOfTheTree) {
    EXPECT_EQ(rounds_in(schedule_of(OperationKind::broadcast, "binomial", {64})), 6);
    EXPECT_EQ(rounds_in(schedule_of(OperationKind::broadcast, "binary", {63})), 5);
    EXPECT_EQ(rounds_in(schedule_of(OperationKind::broadcast, "knomial", {64})), 3);
    EXPECT_EQ(rounds_in(schedule_of(OperationKind::broadcast, "pipeline", {64})), 63);
    EXPECT_EQ(rounds_in(schedule_of(OperationKind::broadcast, "chain", {65})), 16);
    EXPECT_EQ(rounds_in(schedule_of(OperationKind::reduce, "binomial", {64})), 6) << "one vector after another";
}

TEST(Schedule, OfATreeQueuesWhatTheLongestWayWaitsFor) {
    // The first child of a rank has the most below it, and its message goes first.
    for (Round const& round : schedule_of(OperationKind::broadcast, "binomial", {512})) {
        EXPECT_EQ(round.queued, 1);
    }
    // Always the second child: a message is before each.
    for (Round const& round : schedule_of(OperationKind::broadcast, "binary", {511})) {
        EXPECT_EQ(round.queued, 2);
    }
    // Among 3 * 10 other ranks the third chain begins after two messages of the root.
    for (Round const& round : schedule_of(OperationKind::broadcast, "three_chains", {31})) {
        EXPECT_DOUBLE_EQ(round.queued, 1 + 2.0 / 10);
    }
}

TEST(Schedule, OfABinaryTreeHasOddRanksInItsLeftHalf) {
    auto const rounds = schedule_of(OperationKind::broadcast, "split_binary", {8});
    ASSERT_EQ(rounds.size(), 4U);
    std::vector<std::pair<int, int>> second;
    for (Message const& message : rounds[1].messages) {
        second.emplace_back(message.from, message.to);
    }
    EXPECT_EQ(second, (std::vector<std::pair<int, int>>{{1, 3}, {1, 5}, {2, 4}, {2, 6}}));
    EXPECT_EQ(rounds[3].messages[0].to, 2) << "halves are exchanged between neighbours";
    EXPECT_EQ(rounds[3].messages[6].from, 7);
    EXPECT_EQ(rounds[3].messages[6].to, 0) << "which has all, and rank 7 no neighbour";
}

TEST(Schedule, OfABinomialReductionJoinsNeighboursFirst) {
    EXPECT_EQ(rounds_in(schedule_of(OperationKind::reduce, "binomial", {33})), 6);
    for (int const ranks : {2, 8, 64}) {
        auto const rounds = schedule_of(OperationKind::reduce, "binomial", {ranks});
        EXPECT_EQ(rounds_in(rounds), std::log2(ranks));
        EXPECT_EQ(messages_in(rounds), ranks - 1);
        for (std::size_t round = 0; round < rounds.size(); ++round) {
            for (Message const& message : rounds[round].messages) {
                EXPECT_EQ(message.from - message.to, 1 << round) << ranks;
                EXPECT_EQ(message.to % (2 << round), 0) << ranks;
            }
        }
    }
}

TEST(Schedule, OfAReductionIsPipelinedOnlyWhereItSaysSo) {
    auto const bytes_in_turn = [](std::string_view algorithm) {
        double share = 0;
        for (Round const& round : schedule_of(OperationKind::reduce, algorithm, {63})) {
            double most = 0;
            for (Message const& message : round.messages) {
                most = std::max(most, message.share);
            }
            share += round.times * most;
        }
        return share;
    };
    EXPECT_EQ(bytes_in_turn("binary"), 10) << "two children of a rank on each of five levels";
    EXPECT_EQ(bytes_in_turn("binary_pipelined"), 1);
    EXPECT_EQ(bytes_in_turn("binomial"), 6);
    EXPECT_EQ(bytes_in_turn("binomial_pipelined"), 1);
    EXPECT_EQ(schedule_of(OperationKind::reduce, "binary_pipelined", {63}).back().reduced, 2);
    EXPECT_EQ(schedule_of(OperationKind::reduce, "binomial_pipelined", {63}).back().reduced, 6)
        << "the root has a child at each of 32, 16, 8, 4, 2, 1";
}

TEST(Schedule, OfAFlatExchangeStandsForAllDistancesAlsoWhereItHasSomeOfThem) {
    for (int ranks : {2, 8, 65, 66, 512, 1000}) {
        for (std::string_view const algorithm : {"pairwise", "linear"}) {
            auto const rounds = schedule_of(OperationKind::exchange, algorithm, {ranks});
            EXPECT_NEAR(messages_in(rounds), ranks * (ranks - 1.0), 1e-6 * ranks * ranks);
            EXPECT_NEAR(sent(rounds, 0), (ranks - 1.0) / ranks, close);
        }
        EXPECT_NEAR(rounds_in(schedule_of(OperationKind::exchange, "pairwise", {ranks})), ranks - 1, 1e-6);
    }
}

TEST(Schedule, OfANeighborExchangeNeedsPairs) {
    for (int ranks : {2, 4, 6, 60, 64}) {
        auto const rounds = schedule_of(OperationKind::all_gather, "neighbor_exchange", {ranks});
        EXPECT_EQ(rounds_in(rounds), ranks / 2.0);
        EXPECT_NEAR(sent(rounds, 0), (ranks - 1.0) / ranks, close);
    }
    EXPECT_THROW((void)schedule_of(OperationKind::all_gather, "neighbor_exchange", {5}), UsageError);
}

TEST(Schedule, OfOneRankIsEmpty) {
    for (OperationKind const collective : {OperationKind::all_reduce, OperationKind::exchange, OperationKind::gather}) {
        EXPECT_TRUE(schedule_of(collective, "linear", {1}).empty());
    }
    EXPECT_THROW((void)schedule_of(OperationKind::all_reduce, "ring", {0}), UsageError);
}

struct Total {
    double messages = 0;
    double bytes = 0;
};

/// Of the plans of all places.
Total of_backend(algorithms::Algorithm algorithm, OperationKind kind, int places, Bytes bytes, int radix) {
    Total total;
    algorithms::Shape shape;
    shape.kind = kind;
    shape.places = places;
    shape.bytes = bytes;
    for (shape.place = 0; shape.place < places; ++shape.place) {
        for (algorithms::MicroStep const& step : algorithm(shape, {radix, 0}).steps) {
            if (step.action == algorithms::Action::send) {
                total.messages += 1;
                total.bytes += static_cast<double>(step.bytes);
            }
        }
    }
    return total;
}

// The two catalogues describe what libraries run and what backend ucx runs; where both have an algorithm, it is the
// same.
TEST(Schedule, SendsAsManyMessagesAndBytesAsThePlansOfTheBackends) {
    struct Row {
        OperationKind collective;
        std::string_view algorithm;
        algorithms::Algorithm backend;
        OperationKind kind;
        int radix = 2;
    };
    using K = OperationKind;
    for (Row const& row : {Row{K::all_reduce, "ring", algorithms::ring, K::all_reduce},
                           Row{K::all_gather, "ring", algorithms::ring, K::all_gather},
                           Row{K::reduce_scatter, "ring", algorithms::ring, K::reduce_scatter},
                           Row{K::all_reduce, "recursive_doubling", algorithms::recursive_doubling, K::all_reduce},
                           Row{K::all_reduce, "rabenseifner", algorithms::knomial, K::all_reduce},
                           Row{K::reduce_scatter, "recursive_halving", algorithms::knomial, K::reduce_scatter},
                           Row{K::all_gather, "neighbor_exchange", algorithms::neighbor, K::all_gather},
                           Row{K::exchange, "bruck", algorithms::bruck_exchange, K::exchange},
                           Row{K::broadcast, "binomial", algorithms::knomial_tree, K::broadcast},
                           Row{K::broadcast, "knomial", algorithms::knomial_tree, K::broadcast, 4},
                           Row{K::broadcast, "pipeline", algorithms::chain, K::broadcast},
                           Row{K::reduce, "binomial", algorithms::knomial_tree, K::reduce},
                           Row{K::reduce, "pipeline", algorithms::chain, K::reduce},
                           Row{K::gather, "binomial", algorithms::knomial_tree, K::gather},
                           Row{K::gather, "linear", algorithms::direct_parts, K::gather},
                           Row{K::scatter, "binomial", algorithms::knomial_tree, K::scatter},
                           Row{K::scatter, "linear", algorithms::direct_parts, K::scatter}}) {
        for (int places : {2, 4, 8, 16}) {
            Bytes const bytes = static_cast<Bytes>(places) * 24;
            Total const expected = of_backend(row.backend, row.kind, places, bytes, row.radix);
            auto const rounds = schedule_of(row.collective, row.algorithm, {places});
            EXPECT_EQ(messages_in(rounds), expected.messages) << name_in_tables(row.collective) << " " << row.algorithm;
            EXPECT_NEAR(sent(rounds) * static_cast<double>(bytes), expected.bytes, 1e-6)
                << name_in_tables(row.collective) << " " << row.algorithm;
        }
    }
}

TEST(AlgorithmName, IsReadAsEachLibraryWritesIt) {
    auto const of = [](OperationKind collective, std::string_view name) {
        return algorithm_of(collective, name).value().algorithm;
    };
    EXPECT_EQ(of(OperationKind::all_reduce, "default-recursive_doubling"), "recursive_doubling");
    EXPECT_EQ(of(OperationKind::all_gather, "default-recursive-doubling"), "recursive_doubling");
    EXPECT_EQ(of(OperationKind::all_reduce, "rabenseifner_mpich"), "rabenseifner");
    EXPECT_EQ(of(OperationKind::all_reduce, "reduce_scatter_allgather_mpich"), "rabenseifner");
    EXPECT_EQ(of(OperationKind::reduce, "reduce_scatter_gather_mpich"), "rabenseifner");
    EXPECT_EQ(of(OperationKind::broadcast, "scatter_recursive_doubling_allgather_mpich"), "scatter_allgather");
    EXPECT_EQ(of(OperationKind::broadcast, "scatter_ring_allgather_mpich"), "scatter_allgather_ring");
    EXPECT_EQ(of(OperationKind::exchange, "scattered_mpich"), "linear");
    EXPECT_EQ(of(OperationKind::reduce_scatter, "recursive_distance_doubling_over"), "distance_doubling");
    EXPECT_EQ(of(OperationKind::broadcast, "default-split-binary-tree"), "split_binary");
    EXPECT_EQ(of(OperationKind::all_reduce, "RECDOUB-B_CONT-UTOFU-65536-3"), "rabenseifner");
    EXPECT_EQ(algorithm_of(OperationKind::all_reduce, "RECDOUB-L-UTOFU-0-6").value().ports, 6);
}

TEST(AlgorithmName, ThatTellsNoMessagesIsUnknown) {
    for (std::string_view const name :
         {"default_ompi", "default-default", "default-trix3", "bine_lat_over", "BINE-L-UTOFU-0-1", "",
          "RING-B_CONT-UTOFU-0-0", "RING-B_CONT-UTOFU-x-1", "pairwise_ompi"}) {
        EXPECT_FALSE(algorithm_of(OperationKind::all_reduce, name)) << name;
    }
}

TEST(AlgorithmNames, MeanWhatTheLibraryDoes) {
    EXPECT_EQ(algorithm_of(OperationKind::all_gather, "linear")->algorithm, "linear");
    EXPECT_EQ(algorithm_of(OperationKind::all_gather, "linear_ompi")->algorithm, "gather_bcast");
    EXPECT_EQ(algorithm_of(OperationKind::all_gather, "default-linear")->ports, 6);
    EXPECT_EQ(algorithm_of(OperationKind::broadcast, "default-binary-tree")->algorithm, "binomial");
    EXPECT_EQ(algorithm_of(OperationKind::broadcast, "binary_ompi")->algorithm, "binary");
    EXPECT_EQ(algorithm_of(OperationKind::reduce, "in_order_ompi")->algorithm, "binary");
    EXPECT_EQ(algorithm_of(OperationKind::reduce, "binomial_ompi")->algorithm, "binomial");
    EXPECT_EQ(algorithm_of(OperationKind::send, "ring")->algorithm, "ring");
    EXPECT_FALSE(algorithm_of(OperationKind::send, "binomial"));
}

TEST(SplitTree, OfOneElementIsAChain) {
    auto const runs = [](std::string_view name, double bytes) {
        return algorithm_that_runs(OperationKind::broadcast, algorithm_of(OperationKind::broadcast, name).value(),
                                   bytes, 512);
    };
    for (std::string_view const name : {"split_binary_tree_ompi", "default-split-binary-tree"}) {
        EXPECT_EQ(runs(name, 4), "three_chains") << name;
        EXPECT_EQ(runs(name, 8), "split_binary") << name;
    }
    EXPECT_EQ(runs("split_binary_tree_over", 4), "split_binary") << "the rule is Open MPI's";
}

TEST(Ring, OfAnAllreduceOfOpenMpiNeedsAnElementPerRank) {
    auto const runs = [](OperationKind collective, std::string_view name, double bytes) {
        return algorithm_that_runs(collective, algorithm_of(collective, name).value(), bytes, 64);
    };
    for (std::string_view const name : {"ring_ompi", "segmented_ring_ompi", "default-ring"}) {
        EXPECT_EQ(runs(OperationKind::all_reduce, name, 4 * 64 - 4), "recursive_doubling") << name;
        EXPECT_EQ(runs(OperationKind::all_reduce, name, 4 * 64), "ring") << name;
    }
    EXPECT_EQ(runs(OperationKind::all_gather, "ring_ompi", 4), "ring");
    for (std::string_view const name : {"ring", "ring_over", "ring_mpich"}) {
        EXPECT_EQ(runs(OperationKind::all_reduce, name, 4), "ring") << "the rule is Open MPI's, not of " << name;
    }
}

TEST(Reduction, OfFujitsuInTheTablesOfPicoHasSegmentsBeyondASize) {
    auto const runs = [](std::string_view name, double bytes) {
        return algorithm_that_runs(OperationKind::reduce, algorithm_of(OperationKind::reduce, name).value(), bytes, 64);
    };
    EXPECT_EQ(runs("default-binary", 24577), "binary");
    EXPECT_EQ(runs("default-binary", 24578), "binary_pipelined");
    EXPECT_EQ(runs("default-binomial", 24577), "binomial");
    EXPECT_EQ(runs("default-binomial", 24578), "binomial_pipelined");
    EXPECT_EQ(runs("default-in-order-binary", 65536), "binary");
    EXPECT_EQ(runs("default-in-order-binary", 65537), "binary_pipelined");
    EXPECT_EQ(runs("binomial_ompi", 1e9), "binomial");
}

}  // namespace
}  // namespace dlmb::predict
