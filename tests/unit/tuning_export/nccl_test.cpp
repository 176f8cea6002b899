// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// The CSV of NCCL's tuner: columns as NVIDIA's example plugin reads them.
#include "common/tools/tune/exporters/export.hpp"
#include "tests/unit/tuning_export/agreement.hpp"

#include <gtest/gtest.h>

#include <map>

namespace dlmb::tuning::nccl_test {
namespace {

using Columns = std::vector<std::string>;

std::vector<Columns> read(std::string_view text) {
    std::vector<Columns> lines;
    for (std::string_view const line : words(text, "\n")) {
        EXPECT_LT(line.size(), 255U) << "NVIDIA's reader cuts longer lines";
        if (line.front() != '#') {
            auto const columns = split(line, ",");
            lines.emplace_back(columns.begin(), columns.end());
        }
    }
    return lines;
}

std::string function_of(Point const& point) {
    std::map<TunedOperation, std::string> const names{{TunedOperation::allreduce, "allreduce"},
                                                      {TunedOperation::allgather, "allgather"},
                                                      {TunedOperation::broadcast, "broadcast"},
                                                      {TunedOperation::reduce_scatter, "reducescatter"}};
    return names.at(point.operation);
}

std::string run(std::vector<Columns> const& lines, Point const& point) {
    auto const is = [](std::string const& column, std::uint64_t value) {
        return column == "-1" || column == std::to_string(value);
    };
    for (Columns const& line : lines) {
        if (line.at(0) == function_of(point) && std::stoull(line.at(1)) <= point.bytes &&
            point.bytes <= std::stoull(line.at(2)) && is(line.at(6), point.nodes) && is(line.at(7), point.ranks)) {
            EXPECT_EQ(line.at(4), "ll128");
            return line.at(3);
        }
    }
    return "";
}

TableShape shape() {
    return {"nccl",
            "nccl",
            "cuda",
            "ll128",
            {{TunedOperation::allreduce, false, {"tree", "ring", "nvls", "unheard_of"}},
             {TunedOperation::allgather, false, {"ring", "pat"}},
             {TunedOperation::broadcast, false, {"ring"}},
             {TunedOperation::reduce_scatter, false, {"ring", "collnet_direct"}}}};
}

TuningTable one_rule() {
    return table_of({make_rule(shape(), TunedOperation::allreduce, "tree", {16, 16}, {0, Bytes{1} << 33})});
}

std::string last_line(Export const& made) {
    std::string const& text = made.files.at(0).text;
    return text.substr(text.rfind('\n', text.size() - 2) + 1);
}

TEST(NcclExport, SaysWhatTheTableSays) {
    expect_agreement(shape(), [](TuningTable const& table, std::vector<Lost>& lost) {
        Export const made = to_nccl(table, {{}, "cuda", "fp32", ""}, {"libnccl-tuner-dlmb.so"});
        lost = made.lost;
        return [lines = read(made.files.at(0).text)](Point const& point) { return run(lines, point); };
    });
}

TEST(NcclExport, WritesWholeSizesNodesAndChannels) {
    TuningTable table = one_rule();
    EXPECT_EQ(last_line(to_nccl(table, {{}, "cuda", "", ""}, {})), "allreduce,0,8589934592,tree,ll128,-1,-1,16,-1\n");
    table.rules[0].when.nodes = CountInterval{2, 2};
    table.rules[0].choose.params.channels = 8;
    EXPECT_EQ(last_line(to_nccl(table, {{}, "cuda", "", ""}, {})), "allreduce,0,8589934592,tree,ll128,8,2,16,-1\n");
}

TEST(NcclExport, WarnsOfRulesWithoutChannels) {
    TuningTable table = one_rule();
    std::size_t const notes = to_nccl(table, {{}, "cuda", "", ""}, {}).notes.size();
    table.rules[0].choose.params.channels = 8;
    EXPECT_EQ(to_nccl(table, {{}, "cuda", "", ""}, {}).notes.size(), notes - 1);
}

TEST(NcclExport, LosesWhatNcclAsksNoTunerFor) {
    TuningTable table = one_rule();
    table.rules[0].when.operation = TunedOperation::exchange;
    Export const made = to_nccl(table, {{}, "cuda", "", ""}, {});
    ASSERT_EQ(made.lost.size(), 1U);
    EXPECT_EQ(made.lost[0].why, LostReason::operation_not_tunable);
}

TEST(NcclExport, SplitsWhatHasNoRangeColumn) {
    TuningTable table = one_rule();
    table.rules[0].when.ranks = CountInterval{4, 6};
    EXPECT_EQ(read(to_nccl(table, {{}, "cuda", "", ""}, {}).files.at(0).text).size(), 3U);
    table.rules[0].when.nodes = CountInterval{5, 6};  // on no more nodes than ranks
    auto const lines = read(to_nccl(table, {{}, "cuda", "", ""}, {}).files.at(0).text);
    ASSERT_EQ(lines.size(), 3U);
    EXPECT_EQ(lines[0].at(6) + lines[0].at(7) + lines[1].at(6) + lines[1].at(7) + lines[2].at(6), "55566");
    table.rules[0].when.ranks = CountInterval{1, 1000};
    EXPECT_EQ(to_nccl(table, {{}, "cuda", "", ""}, {}).lost.at(0).why, LostReason::range_limit);
}

}  // namespace
}  // namespace dlmb::tuning::nccl_test
