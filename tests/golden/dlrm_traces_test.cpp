// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Message sizes of published traces, in elements as the traces have them, and drawn sizes that every compiler must
// reproduce.
#include "tests/unit/dlrm_exchange/dlrm_fixture.hpp"

#include <gtest/gtest.h>

namespace dlmb::dlrm_exchange {
namespace {

std::vector<Bytes> elements(std::vector<Block> const& blocks, Bytes element) {
    std::vector<Bytes> counts;
    for (Block const& block : blocks) {
        EXPECT_EQ(block.bytes % element, 0U);
        counts.push_back(block.bytes / element);
    }
    return counts;
}

// facebookresearch/param et_replay/tests/inputs, 8 ranks: splits 24, lengths 384, indices 3392 with the splits below,
// pooled 6144 both ways (768 per peer), allreduces 394241, 226960 and 112.
TEST(DlrmTraces, EightRanksOfParam) {
    auto const plans = plans_of({}, 8, "dlrm-trace-8");
    Plan const& plan = plans[0];
    EXPECT_EQ(sent(plan, "lengths.splits"), 24 * int64);
    EXPECT_EQ(elements(exchange_of(plan, "lengths").send, int32), (std::vector<Bytes>(8, 48)));
    EXPECT_EQ(elements(exchange_of(plan, "indices").send, int32),
              (std::vector<Bytes>{96, 224, 288, 1664, 592, 96, 192, 240}));
    EXPECT_EQ(elements(exchange_of(plan, "indices").recv, int32), (std::vector<Bytes>(8, 96)));
    EXPECT_EQ(elements(exchange_of(plan, "forward").send, fp32), (std::vector<Bytes>(8, 768)));
    EXPECT_EQ(elements(exchange_of(plan, "backward").send, fp32), (std::vector<Bytes>(8, 768)));
    EXPECT_EQ(step_of<OperationKind::all_reduce>(plan, "dense_top").bytes, 394'241 * fp32);
    EXPECT_EQ(step_of<OperationKind::all_reduce>(plan, "dense_bottom").bytes, 226'960 * fp32);
    EXPECT_EQ(step_of<OperationKind::all_reduce>(plan, "dense_bottom.tables").bytes, 112 * fp32);
}

// HolisticTraceAnalysis trace_diff control, 8 ranks: lengths 1,002,496 = 1024 x 979; pooled backward 72,605,696 =
// 1024 x 70,904; indices 15,100,250 (15.07 to 15.11 million over steps).
TEST(DlrmTraces, EightRanksWith979Tables) {
    Plan const plan = plans_of({}, 8, "dlrm-trace-8-large").at(0);
    EXPECT_EQ(sent(plan, "lengths"), 1'002'496 * int32);
    EXPECT_EQ(sent(plan, "backward"), 72'605'696 * fp32);
    Bytes const indices = sent(plan, "indices") / int32;
    EXPECT_NEAR(static_cast<double>(indices), 15'100'250, 979);
    EXPECT_EQ(step_of<OperationKind::all_reduce>(plan, "dense_top").bytes +
                  step_of<OperationKind::all_reduce>(plan, "dense_bottom").bytes,
              (45'310'188 + 267'040 + 4'432'073) * fp32);
}

// HolisticTraceAnalysis sampled timeline, 128 ranks: splits 384; pooled 419,430,400 one-byte values both ways
// (3,276,800 per peer); gather 16,777,216; indices 2,846,720; allreduces 19,618,307, 26,955,536, 26,258,430, 5,716,654.
TEST(DlrmTraces, A128RankIteration) {
    Plan const plan = build_one(*make_dlrm({}, 128, "dlrm-trace-128"), 77, {});
    EXPECT_EQ(sent(plan, "lengths.splits"), 384 * int64);
    EXPECT_EQ(elements(exchange_of(plan, "forward").send, 1), (std::vector<Bytes>(128, 3'276'800)));
    EXPECT_EQ(sent(plan, "backward"), 419'430'400U);
    EXPECT_EQ(step_of<OperationKind::all_gather>(plan, "backward.row").bytes, 16'777'216U);
    Bytes const indices = sent(plan, "indices") / int32;
    EXPECT_NEAR(static_cast<double>(indices), 2'846'720, 3201);
    EXPECT_EQ(step_of<OperationKind::all_reduce>(plan, "dense_top").bytes +
                  step_of<OperationKind::all_reduce>(plan, "dense_bottom").bytes,
              (19'618'307 + 26'955'536 + 26'258'430 + 5'716'654) * fp32);
}

// Recomputed outside this code from Philox4x32-10: bag (table t, sample i) is below(word i mod 4 of the block (draw 3,
// i / 4, t, 6 << 28), 2 L + 1), samples 128 to 255, table t on rank t mod 4. A wanted change says so in CHANGELOG.
TEST(DlrmTraces, DrawnBagsAreTheSameBitsEverywhere) {
    Plan const plan = build_one(*make_dlrm({{"bags", "uniform"}}, 4, "dlrm-small"), 1, {20260101, 3});
    std::vector<Bytes> const counts = elements(exchange_of(plan, "indices").send, int64);
    EXPECT_EQ(counts, (std::vector<Bytes>{14612, 6018, 3104, 4098}));
}

}  // namespace
}  // namespace dlmb::dlrm_exchange
