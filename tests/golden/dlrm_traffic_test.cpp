// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Published models: table sizes, dense parameters, bytes of every exchange. Message sizes of published traces, in
// elements as the traces have them, and drawn sizes that every compiler must reproduce.
#include "patterns/dlrm_exchange/model.hpp"
#include "tests/unit/dlrm_exchange/dlrm_fixture.hpp"

#include <gtest/gtest.h>

#include <numeric>

namespace dlmb::dlrm_exchange {
namespace {

std::uint64_t sum_of(NamedNumbers const& list) {
    auto const numbers = read_numbers(list.text, {"--list", true, 1, 0xFFFF'FFFF, {}});
    EXPECT_EQ(numbers.size(), 26U) << list.name;
    return std::accumulate(numbers.begin(), numbers.end(), std::uint64_t{0}) / one;
}

// Row counts of Criteo Terabyte (MLPerf Training v0.7) and of its multi-hot variant (v3.0): 97.36 GiB of fp32.
TEST(DlrmTraffic, PublishedTables) {
    EXPECT_EQ(sum_of(published_rows[0]), 177'944'275U);
    EXPECT_EQ(sum_of(published_rows[1]), 204'184'588U);
    EXPECT_NEAR(static_cast<double>(sum_of(published_rows[1])) * 128 * 4 / 0x1p30, 97.36, 0.005);
    EXPECT_EQ(sum_of(published_pooling[0]), 214U);
}

Bytes reduced(std::string_view preset, std::string_view label) {
    return step_of<OperationKind::all_reduce>(plans_of({}, 2, preset).at(0), label).bytes;
}

// bottom 13-512-256-128: 171,392; top 479-1024-1024-512-256-1: 2,197,505; together 9,475,588 B.
TEST(DlrmTraffic, DenseGradientsOfMlperf) {
    EXPECT_EQ(reduced("dlrm-mlperf", "dense_bottom"), 4U * 171'392U);
    EXPECT_EQ(reduced("dlrm-mlperf", "dense_top"), 4U * 2'197'505U);
    EXPECT_EQ(reduced("dlrm-mlperf", "dense_bottom") + reduced("dlrm-mlperf", "dense_top"), 9'475'588U);
}

// cross 3 * (2 * 3456 * 512 + 3456) = 10,627,200; over 3456-1024-1024-512-256-1: 5,245,953; with the bottom 64,178,180
// B.
TEST(DlrmTraffic, DenseGradientsOfDcnv2) {
    EXPECT_EQ(cross_parameters("3x512", 3456), 10'627'200U);
    EXPECT_EQ(mlp_parameters("3456-1024-1024-512-256-1", "--top"), 5'245'953U);
    EXPECT_EQ(reduced("dlrm-dcnv2", "dense_top") + reduced("dlrm-dcnv2", "dense_bottom"), 64'178'180U);
}

// SPCL DNN-proxies dlrm.cpp: the same MLPs over 4 tables of 128 values, interaction 10 + 128.
TEST(DlrmTraffic, DenseGradientsOfTheNcclExample) {
    EXPECT_EQ(mlp_parameters("128-128-128-128", "--bottom"), 49'536U);
    EXPECT_EQ(mlp_parameters("138-512-512-512-256-1", "--top"), 728'065U);
    EXPECT_EQ(reduced("dlrm-nccl-example", "dense_bottom"), 4U * 49'536U);
    EXPECT_EQ(reduced("dlrm-nccl-example", "dense_top") - Bytes{4} * 728'065, Bytes{4} * 512 * (164 - 138));
}

// 26 tables of 128 fp32 values over 8 ranks: batch * 26 * 512 bytes.
TEST(DlrmTraffic, PooledBytesOfPublishedBatches) {
    struct Published {
        char const* batch;
        Bytes total, received, off_rank;
    };
    for (Published const& row : {Published{"65536", 872'415'232, 109'051'904, 763'363'328},
                                 Published{"16384", 218'103'808, 27'262'976, 190'840'832},
                                 Published{"2048", 27'262'976, 3'407'872, 23'855'104}}) {
        auto const plans = plans_of({{"batch", row.batch}}, 8, "dlrm-mlperf");
        Bytes all = 0;
        Bytes self = 0;
        for (Plan const& plan : plans) {
            Exchange const& forward = exchange_of(plan, "forward");
            all += total(forward.send);
            self += forward.send.at(static_cast<std::size_t>(plan.me)).bytes;
            EXPECT_EQ(total(forward.recv), row.received);
        }
        EXPECT_EQ(all, row.total);
        EXPECT_EQ(all - self, row.off_rank);
    }
}

// Two ranks with four tables, six with three: batch * tables * 512 bytes sent.
TEST(DlrmTraffic, ForwardBytesFollowThePlacementBackwardBytesDoNot) {
    auto const plans = plans_of({}, 8, "dlrm-mlperf");
    EXPECT_EQ(sent(plans, "forward"), (std::vector<Bytes>{134'217'728, 134'217'728, 100'663'296, 100'663'296,
                                                          100'663'296, 100'663'296, 100'663'296, 100'663'296}));
    EXPECT_EQ(sent(plans, "backward"), (std::vector<Bytes>(8, 109'051'904)));
    auto const by_size = plans_of({{"placement", "lpt:size"}}, 8, "dlrm-mlperf");
    EXPECT_NE(sent(by_size, "forward"), sent(plans, "forward"));
    EXPECT_EQ(sent(by_size, "backward"), sent(plans, "backward"));
}

// 8192 samples per rank: 214 indices each, or one per table.
TEST(DlrmTraffic, IndexAndLengthBytesPerRank) {
    auto const dcnv2 = plans_of({}, 8, "dlrm-dcnv2");
    EXPECT_EQ(sent(dcnv2, "indices"), (std::vector<Bytes>(8, 14'024'704)));
    EXPECT_EQ(sent(dcnv2, "lengths"), (std::vector<Bytes>(8, 851'968)));
    EXPECT_EQ(sent(plans_of({{"index-element", "int32"}}, 8, "dlrm-dcnv2")[3], "indices"), 7'012'352U);
    EXPECT_EQ(sent(plans_of({}, 8, "dlrm-mlperf")[3], "indices"), 1'703'936U);
}

// With a rank per table, what reaches rank 20: 100 of 214 indices, 1 of 26 pooled rows.
TEST(DlrmTraffic, TheHundredHotTableIsHalfOfTheIndexTraffic) {
    auto const plans = plans_of({{"batch", "26"}}, 26, "dlrm-dcnv2");
    double const index_share = static_cast<double>(total(exchange_of(plans[20], "indices").recv)) / (26 * 214 * 8);
    EXPECT_NEAR(index_share, 0.467, 0.0005);
    EXPECT_EQ(total(exchange_of(plans[20], "forward").send), 26U * 512U);
    EXPECT_EQ(sent(plans, "forward"), (std::vector<Bytes>(26, Bytes{26} * 512)));
}

// Indices per sample of facebookresearch/dlrm_datasets; every table rounds its count down.
TEST(DlrmTraffic, IndicesOfMetasDatasets) {
    EXPECT_NEAR(statistic(*make_dlrm({}, 8, "meta-2021"), 8, "index_bytes_total") / 8, 887'017'990, 856);
    EXPECT_NEAR(statistic(*make_dlrm({}, 8, "meta-2022"), 8, "index_bytes_total") / 8, 1'405'163'864, 788);
}

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
