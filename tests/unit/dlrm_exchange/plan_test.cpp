// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "tests/unit/dlrm_exchange/dlrm_fixture.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace dlmb::dlrm_exchange {
namespace {

/// "label<after" of every step.
std::vector<std::string> steps(Parameters const& overrides) {
    std::vector<std::string> found;
    Plan const plan = plans_of(overrides, 4).at(1);
    for (Step const& step : plan.steps) {
        std::string text = step.label + "<";
        for (StepId const after : step.after) {
            text += std::to_string(after);
        }
        found.push_back(text);
    }
    return found;
}

using Steps = std::vector<std::string>;

TEST(DlrmPlan, TopGradientsAreReducedBesideTheBackwardExchange) {
    EXPECT_EQ(steps({}), (Steps{"lengths<", "indices<0", "forward<1", "dense_top<2", "backward<2", "dense_bottom<2"}));
}

TEST(DlrmPlan, WithoutOverlapEachStepWaitsForTheOneBefore) {
    EXPECT_EQ(steps({{"overlap", "off"}}),
              (Steps{"lengths<", "indices<0", "forward<1", "dense_top<2", "backward<3", "dense_bottom<4"}));
}

TEST(DlrmPlan, EveryOptionalStepHasItsPlace) {
    EXPECT_EQ(steps({{"splits", "3"},
                     {"weighted", "on"},
                     {"lookup-ns", "1000"},
                     {"sharding", "mixed"},
                     {"rows", "10+1000000+100000000"}}),
              (Steps{"lengths.splits<", "lengths<0", "indices<1", "indices.weights<1", "lookup<23", "forward<4",
                     "forward.row<4", "dense_top<56", "backward<56", "backward.row<56", "dense_bottom<56",
                     "dense_bottom.tables<56"}));
}

TEST(DlrmPlan, WhatDoesNotExistIsLeftOut) {
    EXPECT_EQ(steps({{"sharding", "row"}, {"top", "0"}, {"bottom", "0"}}),
              (Steps{"lengths<", "indices<0", "forward.row<1", "backward.row<2"}));
    EXPECT_EQ(steps({{"sharding", "mixed"}, {"rows", "10"}}),
              (Steps{"dense_top<", "dense_bottom<", "dense_bottom.tables<"}));
}

TEST(DlrmPlan, UsesExactlyTheOperationsItAnnounces) {
    for (Parameters const& overrides :
         {Parameters{}, Parameters{{"sharding", "row"}}, Parameters{{"top", "0"}, {"bottom", "0"}},
          Parameters{{"sharding", "mixed"}, {"rows", "10"}}, Parameters{{"sharding", "mixed"}, {"rows", "10+5000"}}}) {
        std::set<OperationKind> declared;
        for (OperationUse const& use : make_dlrm(overrides, 3)->operations()) {
            declared.insert(use.kind);
        }
        std::set<OperationKind> used;
        Plan const plan = plans_of(overrides, 3).at(0);
        for (Step const& step : plan.steps) {
            used.insert(kind_of(step.operation));
        }
        EXPECT_EQ(used, declared);
    }
}

// 7 samples over 3 ranks: 3, 2, 2. Tables of 4 fp32 values: 16 bytes per row.
TEST(DlrmPlan, ABatchThatTheRanksDoNotDivideGivesTheFirstOneMore) {
    auto const plans = plans_of({{"batch", "7"}, {"tables", "2"}, {"dim", "4"}}, 3);
    EXPECT_EQ(exchange_of(plans[0], "forward").send, (std::vector<Block>{{0, 0, 48}, {1, 64, 32}, {2, 128, 32}}));
    EXPECT_EQ(sent(plans, "lengths"), (std::vector<Bytes>{int32 * 2 * 3, int32 * 2 * 2, int32 * 2 * 2}));
    EXPECT_EQ(sent(plans, "backward"), (std::vector<Bytes>{96, 64, 64}));
}

TEST(DlrmPlan, RanksWithoutTablesOrSamplesTakePartWithEmptyExchanges) {
    auto const plans = plans_of({{"batch", "2"}, {"tables", "1"}}, 4);
    Exchange const& forward = exchange_of(plans[3], "forward");
    EXPECT_TRUE(forward.send.empty());
    EXPECT_TRUE(forward.recv.empty());
    EXPECT_TRUE(exchange_of(plans[3], "indices").send.empty());
    EXPECT_EQ(exchange_of(plans[0], "forward").send.size(), 2U);
    EXPECT_EQ(problem_of(plans), "");
}

// 7 samples are padded to 3 on each of 3 ranks; 5 tables of 4 values.
TEST(DlrmPlan, RowWiseTablesPadTheBatchToEqualParts) {
    Plan const plan = plans_of({{"batch", "7"}, {"tables", "5"}, {"dim", "4"}, {"sharding", "row"}}, 3).at(2);
    EXPECT_EQ(step_of<OperationKind::reduce_scatter>(plan, "forward.row").bytes, 3U * 3U * 5U * 4U * 4U);
    EXPECT_EQ(step_of<OperationKind::all_gather>(plan, "backward.row").bytes, 3U * 3U * 5U * 4U * 4U);
    EXPECT_EQ(sent(plan, "lengths"), 3U * (2U * 5U) * 4U);
}

// 8 rows in blocks of 2 over 4 ranks, then 3 rows in blocks of 1: the last rank has none of the second table.
TEST(DlrmPlan, RowWiseIndicesFollowTheirRows) {
    Plan const plan = plans_of({{"batch", "4"}, {"rows", "8+3"}, {"pooling", "40+9"}, {"sharding", "row"}}, 4).at(0);
    EXPECT_EQ(
        exchange_of(plan, "indices").send,
        (std::vector<Block>{{0, 0, 13 * int64}, {1, 128, 13 * int64}, {2, 256, 13 * int64}, {3, 384, 10 * int64}}));
}

TEST(DlrmPlan, ElementsOfBothDirectionsAreApart) {
    Parameters const shape{
        {"batch", "8"}, {"tables", "2"}, {"dim", "4"}, {"rows", "1000+100000000"}, {"sharding", "mixed"}};
    Parameters narrow = shape;
    narrow.insert({{"element", "fp8"}, {"backward-element", "fp16"}});
    Plan const wide = plans_of(shape, 2).at(0);
    Plan const plan = plans_of(narrow, 2).at(0);
    EXPECT_EQ(sent(wide, "forward"), 4 * sent(plan, "forward"));
    EXPECT_EQ(sent(wide, "backward"), 2 * sent(plan, "backward"));
    EXPECT_EQ(step_of<OperationKind::reduce_scatter>(plan, "forward.row").element,
              Element::fp16);  // one byte cannot hold sums
    EXPECT_EQ(step_of<OperationKind::all_gather>(plan, "backward.row").element, Element::fp16);
}

TEST(DlrmPlan, IndicesLengthsAndWeightsHaveTheirOwnSizes) {
    auto const bytes = [](char const* index, char const* length) {
        Plan const plan = plans_of({{"batch", "8"},
                                    {"tables", "4"},
                                    {"pooling", "3"},
                                    {"weighted", "on"},
                                    {"index-element", index},
                                    {"length-element", length}},
                                   2)
                              .at(0);
        return std::vector<Bytes>{sent(plan, "lengths"), sent(plan, "indices"), sent(plan, "indices.weights")};
    };
    EXPECT_EQ(bytes("int64", "int32"), (std::vector<Bytes>{16 * int32, 48 * int64, 48 * fp32}));
    EXPECT_EQ(bytes("int32", "int64"), (std::vector<Bytes>{16 * int64, 48 * int32, 48 * fp32}));
}

TEST(DlrmPlan, ColumnSlicesEachNeedAllIndicesOfTheirTable) {
    Parameters const shape{{"tables", "3"}, {"dim", "128"}, {"pooling", "5"}, {"column-width", "32"}};
    Parameters columns = shape;
    columns.insert({"sharding", "column"});
    auto const whole = plans_of(shape, 4);
    auto const sliced = plans_of(columns, 4);
    EXPECT_EQ(sent(sliced[0], "indices"), 4 * sent(whole[0], "indices"));
    EXPECT_EQ(sent(sliced[0], "lengths"), 4 * sent(whole[0], "lengths"));
    EXPECT_EQ(sent(sliced[0], "backward"), sent(whole[0], "backward"));
}

TEST(DlrmPlan, DrawnBagsAreToldToTheirReceivers) {
    auto const pattern = make_dlrm({{"bags", "uniform"}, {"pooling", "4"}}, 3);
    std::vector<Rank> told;
    for (SetupCounts const& each : pattern->setup_of(1, {}).counts_to_send) {
        told.push_back(each.to);
    }
    EXPECT_EQ(told, (std::vector<Rank>{0, 1, 2}));
    EXPECT_TRUE(make_dlrm({}, 3)->setup_of(1, {}).counts_to_send.empty());
    EXPECT_NE(sent(build_one(*pattern, 1, {1, 0}), "indices"), sent(build_one(*pattern, 1, {1, 1}), "indices"));
    RankSetup const own = pattern->setup_of(1, {});
    EXPECT_THROW((void)pattern->build(1, {}, own, std::span(own.counts_to_send).first(2)), Error);
}

TEST(DlrmPlan, EveryLayoutHoldsTogether) {
    for (int const ranks : {1, 2, 3, 5, 8, 33}) {
        for (char const* sharding : {"table", "row", "column", "mixed"}) {
            for (char const* placement : {"block", "cyclic", "coarse", "fine:7", "lpt:size", "lpt:pooling"}) {
                for (char const* bags : {"fixed", "uniform"}) {
                    auto const plans = plans_of({{"sharding", sharding},
                                                 {"placement", placement},
                                                 {"bags", bags},
                                                 {"batch", "37"},
                                                 {"column-width", "6"},
                                                 {"weighted", "on"}},
                                                ranks, "dlrm-small");
                    EXPECT_EQ(problem_of(plans), "") << ranks << " " << sharding << " " << placement << " " << bags;
                }
            }
        }
    }
}

/// Rows of one step, each where it is read or where it is written, in order of the other place.
std::vector<Bytes> order_of(Plan const& plan, std::string const& label, bool by_source) {
    std::vector<std::pair<Bytes, Bytes>> rows;
    for (Step const& step : plan.steps) {
        if (step.label == label) {
            auto const& moved = *std::get<Compute>(step.operation).rearrangement;
            for (RowRun const& run : moved.runs) {
                for (std::uint64_t row = 0; row < run.rows; ++row) {
                    Bytes const from = run.from + row * run.from_stride;
                    Bytes const to = run.to + row * run.to_stride;
                    rows.emplace_back(by_source ? from : to, by_source ? to : from);
                }
            }
        }
    }
    std::sort(rows.begin(), rows.end());
    std::vector<Bytes> order;
    for (auto const& [key, other] : rows) {
        order.push_back(other);
    }
    return order;
}

Parameters packed_rows(Parameters const& overrides) {
    Parameters all{{"batch", "13"}, {"tables", "5"}, {"rows", "100"}, {"dim", "4"}, {"pack", "host"}};
    for (auto const& [name, value] : overrides) {
        all[name] = value;
    }
    return all;
}

TEST(DlrmPack, PlansAreSoundAndMoveEveryPooledRowOnce) {
    for (int const ranks : {1, 2, 7}) {
        for (Parameters const& overrides :
             {Parameters{}, Parameters{{"batch", "3"}}, Parameters{{"tables", "1"}}, Parameters{{"tables", "30"}},
              Parameters{{"pack", "cuda"}, {"element", "bf16"}, {"overlap", "off"}}}) {
            auto const plans = plans_of(packed_rows(overrides), ranks);
            EXPECT_EQ(problem_of(plans), "") << ranks;
            auto const plain = packed_rows(overrides);
            std::uint64_t const tables = std::stoull(plain.at("tables"));
            std::uint64_t const batch = std::stoull(plain.at("batch"));
            std::uint64_t packed = 0;
            std::uint64_t unpacked = 0;
            for (Plan const& plan : plans) {
                for (std::string const label : {"forward", "backward"}) {
                    auto const read = order_of(plan, "pack." + label, false);
                    EXPECT_EQ(std::set(read.begin(), read.end()).size(), read.size());
                    packed += read.size();
                    auto const written = order_of(plan, "unpack." + label, true);
                    EXPECT_EQ(std::set(written.begin(), written.end()).size(), written.size());
                    unpacked += written.size();
                }
            }
            EXPECT_EQ(packed, 2 * tables * batch);
            EXPECT_EQ(unpacked, packed);
        }
    }
}

// Two ranks of two samples each, table 0 and 2 on rank 0, table 1 on rank 1; rows of 16 bytes.
TEST(DlrmPack, RowsGoFromTablesToSamples) {
    auto const plans = plans_of(packed_rows({{"batch", "4"}, {"tables", "3"}}), 2);
    // In table 0 samples 0 to 3, then those of table 2. Rank 0's samples travel first: (0, table 0), (0, table 2) ...
    EXPECT_EQ(order_of(plans[0], "pack.forward", false), (std::vector<Bytes>{0, 64, 16, 80, 32, 96, 48, 112}));
    // Of sample 0 tables 0 and 2 from rank 0 and table 1 from rank 1, then sample 1.
    auto const rows = order_of(plans[0], "unpack.forward", false);
    ASSERT_EQ(rows.size(), 6U);
    EXPECT_EQ(rows[1] - rows[0], 16U);
    EXPECT_EQ(rows[3] - rows[0], 32U);
    EXPECT_EQ(rows[5] - rows[2], 16U) << "the block from rank 1";
    EXPECT_EQ(order_of(plans[0], "unpack.backward", true).size(), 8U);
}

TEST(DlrmPack, StepsWaitAsWithoutIt) {
    EXPECT_EQ(steps({{"pack", "host"}}),
              (Steps{"lengths<", "indices<0", "pack.forward<1", "forward<2", "unpack.forward<3", "dense_top<4",
                     "pack.backward<4", "backward<6", "unpack.backward<7", "dense_bottom<4"}));
}

TEST(DlrmPack, WhatCannotBeMovedIsRefused) {
    auto const refused = [](Parameters const& overrides) { return refusal(packed_rows(overrides)); };
    EXPECT_EQ(refused({{"sharding", "row"}}), "--pack host: no table is on one rank, so no pooled rows are exchanged");
    EXPECT_EQ(refused({{"dim", "8+4x16"}}),
              "--pack host: pooled rows have 8 and 16 values, where all have to be equally long");
    EXPECT_EQ(refused({{"dim", "1"}}), "--pack host: rows of 4 B (1 values of fp32) are not a multiple of 8 B");
}

}  // namespace
}  // namespace dlmb::dlrm_exchange
