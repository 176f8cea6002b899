// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Layouts of layers on a mesh: what AutoDDL (arXiv 2301.06813) says of them, and the table of OneFlow.
#include "common/base/error.hpp"
#include "common/tools/predict/layouts.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <limits>
#include <numeric>
#include <random>

namespace dlmb::predict {
namespace {

constexpr Sbp sbp_s0 = split_along(0);
constexpr Sbp sbp_s1 = split_along(1);
constexpr Sbp sbp_b = Sbp::broadcast;
constexpr Sbp sbp_p = Sbp::partial;
constexpr double alpha_us = 2;

Price const ring_price = model_price(alpha_beta_model(alpha_us, 10));

std::vector<Move> moves_between(Mesh const& mesh, Layout const& from, Layout const& to, double bytes) {
    return Transitions(mesh, ring_price).between(from, to, bytes);
}
double volume_of(std::vector<Move> const& moves) {
    return std::accumulate(moves.begin(), moves.end(), 0.0,
                           [](double sum, Move const& move) { return sum + move.volume; });
}
double volume_between(Mesh const& mesh, Layout const& from, Layout const& to, double bytes) {
    return volume_of(moves_between(mesh, from, to, bytes));
}

// OneFlow, sbp_infer_util.cpp: M = 67,108,864, n = 8, summed over ranks.
TEST(Sbp, TransitionsOnOneAxisHaveThePublishedVolumes) {
    constexpr double m = 67108864;
    EXPECT_EQ(volume_between({8}, {sbp_s0}, {sbp_s0}, m), 0);
    EXPECT_EQ(volume_between({8}, {sbp_b}, {sbp_s0}, m), 0);
    EXPECT_EQ(volume_between({8}, {sbp_s0}, {sbp_s1}, m), 58720256);
    EXPECT_EQ(volume_between({8}, {sbp_s0}, {sbp_b}, m), 469762048);
    EXPECT_EQ(volume_between({8}, {sbp_p}, {sbp_s1}, m), 469762048);
    EXPECT_EQ(volume_between({8}, {sbp_p}, {sbp_b}, m), 939524096);
    EXPECT_THROW((void)moves_between({8}, {sbp_s0}, {sbp_p}, m), UsageError) << "nothing makes a tensor partial";
}

// OneFlow, sbp_infer_util.cpp: one axis differs; times the size of the common axis where that does not split.
TEST(Sbp, TheOtherAxisRepeatsTheMoveOrDividesTheTensor) {
    constexpr double m = 1024;
    EXPECT_EQ(volume_between({2, 4}, {sbp_b, sbp_s0}, {sbp_b, sbp_b}, m), 2 * 3 * m);
    EXPECT_EQ(volume_between({2, 4}, {sbp_s1, sbp_s0}, {sbp_s1, sbp_b}, m), 3 * m);
    EXPECT_EQ(volume_between({2, 4}, {sbp_b, sbp_p}, {sbp_b, sbp_b}, m), 2 * 2 * 3 * m);
    EXPECT_EQ(volume_between({2, 4}, {sbp_s1, sbp_s0}, {sbp_s1, sbp_s1}, m), m * 3 / 4)
        << "the inner split of one dimension";
    EXPECT_EQ(volume_between({2, 4}, {sbp_s0, sbp_b}, {sbp_s0, sbp_s0}, m), 0) << "the part of the part is there";
}

// OneFlow's table has 0 where blocks change places.
TEST(Sbp, SplittingAnEarlierAxisMovesBlocks) {
    constexpr double m = 1e9;  // so that bandwidth decides
    for (int const extent : {2, 4}) {
        auto const moves = moves_between({extent, extent}, {sbp_b, sbp_s0}, {sbp_s0, sbp_s0}, m);
        ASSERT_EQ(moves.size(), 1U);
        EXPECT_EQ(moves.front().operation, OperationKind::exchange);
        EXPECT_NEAR(volume_of(moves), (1 - 1.0 / extent) * m, 1e-3);
    }
    EXPECT_EQ(volume_between({2, 2}, {sbp_b, sbp_s1}, {sbp_s0, sbp_s1}, m), 0) << "another dimension is not cut anew";
}

// On several axes the way through S is never dearer than the direct one.
TEST(Sbp, PartialToBroadcastCostsWhatTheTwoHalvesCost) {
    for (int const ranks : {2, 4, 7, 64}) {
        for (double const bytes : {8.0, 65536.0, 1e8}) {
            auto const cost = [&](Layout const& from, Layout const& to) {
                return cost_of(moves_between({ranks}, from, to, bytes));
            };
            EXPECT_DOUBLE_EQ(cost({sbp_p}, {sbp_b}).us, (cost({sbp_p}, {sbp_s0}) + cost({sbp_s0}, {sbp_b})).us);
            EXPECT_EQ(cost({sbp_p}, {sbp_b}).moves, 1U) << "one collective rather than two";
        }
    }
}

TEST(Sbp, AnAllReduceOverTwoAxesWorksOnPartsInBetween) {
    // reduce_scatter, allreduce of a half, allgather: 3/2 of T per rank, where two allreduces take 2 T.
    constexpr double large = 1e9;
    EXPECT_DOUBLE_EQ(volume_between({2, 2}, {sbp_p, sbp_p}, {sbp_b, sbp_b}, large), 4 * 1.5 * large);
}

LayoutProblem mlp(std::vector<double> const& widths, double tokens, Mesh mesh) {
    LayoutProblem problem;
    for (std::size_t layer = 0; layer + 1 < widths.size(); ++layer) {
        problem.layers.push_back({widths[layer], widths[layer + 1]});
    }
    problem.tokens = tokens;
    problem.mesh = std::move(mesh);
    return problem;
}

std::vector<std::string> divisions_of(LayoutChoice const& choice) {
    std::vector<std::string> made;
    for (LayerDivision const& division : choice.divisions) {
        made.push_back(text_of(division));
    }
    return made;
}

using Divisions = std::vector<std::string>;

TEST(Layouts, LargeWeightsAreSplitByColumnThenByRowWithOneAllReduce) {
    LayoutChoice const choice = search_layouts(mlp({8192, 32768, 8192}, 64, {4}), ring_price);
    EXPECT_EQ(divisions_of(choice), (Divisions{"column", "row"}));
    ASSERT_EQ(choice.moves.size(), 1U);
    EXPECT_EQ(choice.moves.front().move.operation, OperationKind::all_reduce);
    EXPECT_EQ(text_of(choice.moves.front().move.from), "P");
    EXPECT_EQ(text_of(choice.moves.front().move.to), "B");
    EXPECT_EQ(choice.moves.front().move.bytes, 64 * 8192 * 2.0);
    EXPECT_EQ(divisions_of(search_layouts(mlp({8192, 32768, 8192}, 64, {2, 2}), ring_price)),
              (Divisions{"column,column", "row,row"}));
}

TEST(Layouts, SmallWeightsAndALargeBatchAreDataParallel) {
    LayoutChoice const choice = search_layouts(mlp({256, 1024, 256}, 1 << 20, {4}), ring_price);
    EXPECT_EQ(divisions_of(choice), (Divisions{"data", "data"}));
    for (LayoutMove const& each : choice.moves) {
        EXPECT_EQ(each.tensor, "weight gradient");
        EXPECT_EQ(each.move.operation, OperationKind::all_reduce);
    }
    EXPECT_EQ(choice.moves.size(), 2U);
    EXPECT_EQ(divisions_of(search_layouts(mlp({256, 1024, 256}, 1 << 20, {2, 2}), ring_price)),
              (Divisions{"data,data", "data,data"}));
}

TEST(Layouts, AMeshMixesBothWhereNeitherIsLarge) {
    LayoutChoice const choice = search_layouts(mlp({4096, 16384, 4096}, 16384, {2, 8}), ring_price);
    for (LayerDivision const& division : choice.divisions) {
        EXPECT_NE(std::count(division.begin(), division.end(), Division::data), 2) << text_of(division);
    }
}

/// By trying all of `ways` for each of four layers. Their price is that of each two neighbours alone, less the layers
/// that this counts twice.
double cheapest_of_all(LayoutProblem const& problem, std::vector<LayerDivision> const& ways) {
    std::size_t const count = ways.size();
    auto const alone = [&](std::size_t layer, std::vector<LayerDivision> const& divisions) {
        LayoutProblem part = problem;
        auto const first = problem.layers.begin() + static_cast<std::ptrdiff_t>(layer);
        part.layers.assign(first, first + static_cast<std::ptrdiff_t>(divisions.size()));
        return price_of(part, divisions, ring_price).us;
    };
    std::array<std::vector<double>, 4> single;  // [layer][its way]
    for (std::size_t layer = 0; layer < single.size(); ++layer) {
        std::transform(ways.begin(), ways.end(), std::back_inserter(single[layer]),
                       [&](auto const& way) { return alone(layer, {way}); });
    }
    std::array<std::vector<double>, 3>
        pairs;  // [layer][its way * count + the next one's], less what the next one costs
    for (std::size_t layer = 0; layer < pairs.size(); ++layer) {
        for (std::size_t pick = 0; pick < count * count; ++pick) {
            pairs[layer].push_back(alone(layer, {ways[pick / count], ways[pick % count]}) -
                                   single[layer + 1][pick % count]);
        }
    }
    double least = std::numeric_limits<double>::infinity();
    std::vector<int> picks(4, 0);
    do {
        auto const pick = [&](std::size_t layer) { return static_cast<std::size_t>(picks[layer]); };
        double us = single[3][pick(3)];
        for (std::size_t layer = 0; layer < pairs.size(); ++layer) {
            us += pairs[layer][pick(layer) * count + pick(layer + 1)];
        }
        least = std::min(least, us);
    } while (advance(picks, std::vector<int>(4, static_cast<int>(count))));
    return least;
}

TEST(Layouts, TheSearchFindsWhatTryingAllOfFourLayersFinds) {
    std::mt19937 random(1);
    auto const power = [&](int least, int most) {
        return std::exp2(std::uniform_int_distribution<int>(least, most)(random));
    };
    std::vector<LayerDivision> on_line;
    std::vector<LayerDivision> on_square;
    for (Division const first : {Division::data, Division::column, Division::row}) {
        on_line.push_back({first, Division::data});
        for (Division const second : {Division::data, Division::column, Division::row}) {
            on_square.push_back({first, second});
        }
    }
    for (int sample = 0; sample < 200; ++sample) {
        std::vector<double> widths(5);
        std::generate(widths.begin(), widths.end(), [&] { return power(6, 14); });
        double const tokens = power(4, 20);
        for (auto const& [mesh, ways] : {std::pair{Mesh{4, 1}, &on_line}, {Mesh{2, 2}, &on_square}}) {
            LayoutProblem const problem = mlp(widths, tokens, mesh);
            LayoutChoice const found = search_layouts(problem, ring_price);
            ASSERT_NEAR(found.us, cheapest_of_all(problem, *ways), 1e-9 * found.us) << sample;
            ASSERT_NEAR(found.us, price_of(problem, found.divisions, ring_price).us, 1e-9 * found.us) << sample;
            EXPECT_EQ(found.looked_at, 3 * ways->size() * ways->size() + ways->size())
                << "pairs of layers, and the last one";
        }
    }
}

TEST(Layouts, OfManyLayersAreCheaperThanOneDivisionEverywhere) {
    LayoutProblem const problem = mlp(std::vector<double>(41, 4096), 1024, {2, 4});
    LayoutChoice const choice = search_layouts(problem, ring_price);
    EXPECT_EQ(choice.divisions.size(), 40U);
    EXPECT_NEAR(choice.us, price_of(problem, choice.divisions, ring_price).us, 1e-6 * choice.us);
    LayoutChoice const plain =
        price_of(problem, std::vector<LayerDivision>(40, {Division::data, Division::data}), ring_price);
    EXPECT_LT(choice.us, plain.us);
    EXPECT_THROW((void)search_layouts({}, ring_price), UsageError);
}

TEST(Layouts, TheLayersOfAnAttentionNeedNotFit) {
    LayoutProblem problem;
    problem.layers = {{4096, 3 * 4096}, {4096, 4096}};  // what makes Q, K, V; the projection behind the attention
    problem.tokens = 64;
    problem.mesh = {4};
    EXPECT_EQ(divisions_of(search_layouts(problem, ring_price)), (Divisions{"column", "row"}));
}

}  // namespace
}  // namespace dlmb::predict
