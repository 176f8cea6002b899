// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// The rules file of Open MPI 4.1 and 5.0, read as coll_tuned_dynamic_file.c and coll_tuned_dynamic_rules.c do: numbers,
// # to the end of a line; the last entry that is not above the ranks, or the first one; in it the last row that is not
// above the bytes.
#include "common/tuning/exporters/select_rules.hpp"
#include "tests/unit/tuning_export/agreement.hpp"
#include "tests/unit/tuning_export/open_mpi_names.hpp"

#include <gtest/gtest.h>

#include <map>
#include <sstream>

namespace dlmb::tuning {
namespace {

struct Row {
    Bytes bytes;
    int algorithm;
    int fanout;
    int segment;
};
struct Comm {
    std::uint64_t ranks;
    std::vector<Row> rows;
};
using Rules = std::map<int, std::vector<Comm>>;  // by collective

Rules read(std::string const& text) {
    std::string numbers;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
        numbers += line.substr(0, line.find('#')) + "\n";
    }
    std::istringstream words(numbers);
    auto const next = [&] {
        long long value = -1;
        EXPECT_TRUE(words >> value) << "the file ends early:\n" << text;
        return value;
    };
    Rules rules;
    for (long long collectives = next(); collectives > 0; --collectives) {
        auto& comms = rules[static_cast<int>(next())];
        for (long long count = next(); count > 0; --count) {
            comms.push_back({static_cast<std::uint64_t>(next()), {}});
            for (long long rows = next(); rows > 0; --rows) {
                auto const bytes = static_cast<Bytes>(next());
                auto const algorithm = static_cast<int>(next());
                auto const fanout = static_cast<int>(next());
                comms.back().rows.push_back({bytes, algorithm, fanout, static_cast<int>(next())});
            }
        }
    }
    std::string rest;
    EXPECT_FALSE(words >> rest) << "left over: " << rest;
    return rules;
}

Row run(Rules const& rules, Point const& point) {
    auto const found = rules.find(collective_id(point));
    if (found == rules.end()) {
        return {};
    }
    Comm const* comm = &found->second.front();
    for (Comm const& one : found->second) {
        comm = one.ranks <= point.ranks ? &one : comm;
    }
    EXPECT_EQ(comm->rows.front().bytes, 0U) << "Open MPI drops the whole entry without a word";
    // alltoallv is matched as if it had no bytes.
    Bytes const bytes = point.operation == TunedOperation::exchange && !point.uniform ? 0 : point.bytes;
    Row row{};
    for (Row const& one : comm->rows) {
        row = one.bytes <= bytes ? one : row;
    }
    return row;
}

TuningTable one_rule() {
    TuningTable table;
    table.rules = {make_rule(open_mpi_shape(), TunedOperation::allreduce, "ring", {4, 4}, {65536, 524288})};
    return table;
}

TEST(OpenMpiText, SaysWhatTheTableSays) {
    expect_agreement(open_mpi_shape(), [](TuningTable const& table, std::vector<Lost>& lost) {
        Export const made = to_open_mpi(table, {{}, "host", "fp32", ""}, {"4.1.4"});
        lost = made.lost;
        return [rules = read(made.files.at(0).text)](Point const& point) {
            return name_of_id(point, run(rules, point).algorithm);
        };
    });
}

TEST(OpenMpiText, FencesOffWhatWasNotMeasured) {
    Export const made = to_open_mpi(one_rule(), {{}, "host", "", ""}, {"4.1.4"});
    EXPECT_TRUE(made.lost.empty());
    // Columns and ids: section "Text format" of docs/tuning-consumers.md; 2 is allreduce, 4 its ring.
    EXPECT_EQ(made.files.at(0).text,
              "1  # collectives; then: its id, entries; ranks, rows; from bytes, algorithm, fanout, segment\n"
              "2 3  # allreduce\n"
              "0 1\n  0 0 0 0\n"
              "4 3\n  0 0 0 0\n  65536 4 0 0\n  524289 0 0 0\n"
              "5 1\n  0 0 0 0\n");
    Rules const rules = read(made.files.at(0).text);
    for (std::uint64_t const ranks : {1U, 2U, 3U, 5U, 8U, 100000U}) {
        EXPECT_EQ(run(rules, {TunedOperation::allreduce, false, 131072, ranks}).algorithm, 0) << ranks;
    }
}

TEST(OpenMpiText, CarriesFanoutAndSegments) {
    TuningTable table = one_rule();
    table.rules[0].choose.params.segment_bytes = 4096;
    table.rules[0].choose.params.fanout = 3;
    Export const made = to_open_mpi(table, {{}, "host", "", ""}, {"4.1.4"});
    Row const row = run(read(made.files.at(0).text), {TunedOperation::allreduce, false, 65536, 4});
    EXPECT_EQ(row.fanout, 3);
    EXPECT_EQ(row.segment, 4096);
}

TEST(OpenMpiText, WritesTheSecondFormatOnlyForVersionsThatReadIt) {
    TuningTable table = one_rule();
    table.rules[0].choose.params.max_requests = 8;
    Export const old = to_open_mpi(table, {{}, "host", "", ""}, {"5.0.6"});
    ASSERT_EQ(old.lost.size(), 1U);
    EXPECT_EQ(old.lost[0].why, LostReason::key_not_expressible);
    Export const recent = to_open_mpi(table, {{}, "host", "", ""}, {"5.0.7"});
    EXPECT_TRUE(recent.lost.empty());
    EXPECT_EQ(recent.files.at(0).text.rfind("rule-file-version-2\n", 0), 0U);
    EXPECT_NE(recent.files.at(0).text.find("  65536 4 0 0 8\n"), std::string::npos);
}

}  // namespace
}  // namespace dlmb::tuning
