// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// The CSV of NCCL's tuners: columns as NVIDIA's example plugin reads them, and those of NCCLX, whose sizes are nBytes
// by ranks and whose ranks are per node.
#include "common/tuning/exporters/nccl.hpp"
#include "tests/unit/tuning_export/agreement.hpp"

#include <gtest/gtest.h>

#include <map>
#include <sstream>

namespace dlmb::tuning {
namespace {

using Columns = std::vector<std::string>;

/// Commas inside of brackets separate nothing.
Columns split(std::string const& line) {
    Columns columns{""};
    bool inside = false;
    for (char const one : line) {
        inside = one == '[' || (inside && one != ']' && one != ')');
        if (one == ',' && !inside) {
            columns.emplace_back();
        } else {
            columns.back() += one;
        }
    }
    return columns;
}

std::vector<Columns> read(std::string const& text) {
    std::vector<Columns> lines;
    std::istringstream stream(text);
    for (std::string line; std::getline(stream, line);) {
        EXPECT_LT(line.size(), 255U) << "NVIDIA's reader cuts longer lines";
        if (line.front() != '#') {
            lines.push_back(split(line));
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

bool in_interval(std::string const& text, std::uint64_t value) {
    std::size_t const comma = text.find(',');
    if (text.front() != '[' || comma == text.npos) {
        ADD_FAILURE() << text;
        return false;
    }
    std::string const last = text.substr(comma + 1, text.size() - comma - 2);
    EXPECT_EQ(text.back(), last.empty() ? ')' : ']');
    return std::stoull(text.substr(1)) <= value && (last.empty() || value <= std::stoull(last));
}

std::string run_ncclx(std::vector<Columns> const& lines, Point const& point) {
    for (Columns const& line : lines) {
        bool const of_ranks =
            line.at(5) == std::to_string(point.nodes) && line.at(6) == std::to_string(point.ranks / point.nodes);
        if (of_ranks && line.at(0) == function_of(point) && in_interval(line.at(1), point.bytes / point.ranks)) {
            return line.at(2);
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
    TuningTable table;
    table.rules = {make_rule(shape(), TunedOperation::allreduce, "tree", {16, 16}, {0, Bytes{1} << 33})};
    return table;
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

TEST(NcclxExport, SaysWhatTheTableSays) {
    expect_agreement(shape(), [](TuningTable const& table, std::vector<Lost>& lost) {
        Export const made = to_ncclx(table, {{}, "cuda", "fp32", ""});
        lost = made.lost;
        return [lines = read(made.files.at(0).text)](Point const& point) { return run_ncclx(lines, point); };
    });
}

TEST(NcclExport, WritesWholeSizesNodesAndChannels) {
    TuningTable table = one_rule();
    EXPECT_EQ(last_line(to_nccl(table, {{}, "cuda", "", ""}, {})), "allreduce,0,8589934592,tree,ll128,-1,-1,16,-1\n");
    table.rules[0].when.nodes = CountInterval{2, 2};
    table.rules[0].choose.params.channels = 8;
    table.rules[0].when.group_pipe_ops = CountInterval{1, 1};
    EXPECT_EQ(last_line(to_nccl(table, {{}, "cuda", "", ""}, {})), "allreduce,0,8589934592,tree,ll128,8,2,16,1\n");
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
    table.rules[0].when.ranks_per_node = CountInterval{2, 2};  // 4 on 2 nodes and 6 on 3
    auto const lines = read(to_nccl(table, {{}, "cuda", "", ""}, {}).files.at(0).text);
    ASSERT_EQ(lines.size(), 2U);
    EXPECT_EQ(lines[0].at(6) + lines[0].at(7) + lines[1].at(6) + lines[1].at(7), "2436");
    table.rules[0].when.ranks = CountInterval{1, 1000};
    EXPECT_EQ(to_nccl(table, {{}, "cuda", "", ""}, {}).lost.at(0).why, LostReason::range_limit);
}

TEST(NcclxExport, CarriesChunks) {
    TuningTable table = one_rule();
    table.rules[0].when.nodes = CountInterval{2, 2};
    table.rules[0].choose.params.chunk_bytes = 65536;
    EXPECT_EQ(last_line(to_ncclx(table, {{}, "cuda", "", ""})),
              "allreduce,[0,536870912],tree,ll128,-1,2,8,-1,-1,65536\n");
    EXPECT_EQ(to_nccl(table, {{}, "cuda", "", ""}, {}).lost.at(0).why, LostReason::key_not_expressible);
}

}  // namespace
}  // namespace dlmb::tuning
