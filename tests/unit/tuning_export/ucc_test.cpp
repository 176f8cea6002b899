// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// UCC's tuning string, read as ucc_coll_score.c does: tokens between #, qualifiers between : in any order; the end of a
// range of bytes is outside. And ucc.conf, whose section holds for a range of ranks and a number of nodes.
#include "common/tools/tune/exporters/export.hpp"
#include "tests/unit/tuning_export/agreement.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace dlmb::tuning::ucc_test {
namespace {

struct Range {
    std::uint64_t first = 0;
    std::uint64_t last = std::numeric_limits<std::uint64_t>::max();  // included
};

struct Token {
    std::string operation;
    std::string memory;
    Range bytes;
    Range ranks;
    std::string algorithm;
};

Range read_range(std::string_view text, bool end_is_outside) {
    auto const ends = split(text, "-");
    EXPECT_EQ(ends.size(), 2U) << text;
    Range range{parse_whole<std::uint64_t>(ends.at(0)).value()};
    if (ends.at(1) != "inf") {
        range.last = parse_whole<std::uint64_t>(ends.at(1)).value() - (end_is_outside ? 1 : 0);
    }
    return range;
}

std::vector<Token> read(std::string_view text) {
    std::vector<Token> tokens;
    for (std::string_view const part : words(text, "#")) {
        Token token;
        for (std::string_view const word : split(part, ":")) {
            if (word.front() == '@') {
                token.algorithm = word.substr(1);
            } else if (word.front() == '[') {
                token.ranks = read_range(word.substr(1, word.size() - 2), false);
            } else if (std::isdigit(static_cast<unsigned char>(word.front())) != 0) {
                token.bytes = read_range(word, true);
            } else {
                (token.operation.empty() ? token.operation : token.memory) = word;
            }
        }
        EXPECT_FALSE(token.algorithm.empty()) << part;
        tokens.push_back(token);
    }
    return tokens;
}

std::string run(std::vector<Token> const& tokens, Point const& point) {
    std::map<TunedOperation, std::string> const names{
        {TunedOperation::allreduce, "allreduce"},
        {TunedOperation::allgather, "allgather"},
        {TunedOperation::broadcast, "bcast"},
        {TunedOperation::reduce_scatter, "reduce_scatter"},
        {TunedOperation::exchange, point.uniform ? "alltoall" : "alltoallv"}};
    bool const ragged = point.operation == TunedOperation::exchange && !point.uniform;
    Bytes const bytes = ragged                                              ? 0
                        : point.operation == TunedOperation::reduce_scatter ? point.bytes / point.ranks
                                                                            : point.bytes;
    auto const in = [](Range const& range, std::uint64_t value) { return range.first <= value && value <= range.last; };
    for (Token const& token : tokens) {
        if (token.operation == names.at(point.operation) && (token.memory.empty() || token.memory == "host") &&
            in(token.bytes, bytes) && in(token.ranks, point.ranks)) {
            return token.algorithm;
        }
    }
    return "";
}

TableShape shape() {
    return {"ucc",
            "ucc.tl_ucp",
            "host",
            "",
            {{TunedOperation::allreduce, false, {"knomial", "sra_knomial", "unheard_of"}},
             {TunedOperation::allgather, false, {"ring", "neighbor", "bruck"}},
             {TunedOperation::broadcast, false, {"knomial", "dbt"}},
             {TunedOperation::reduce_scatter, false, {"ring", "knomial"}},
             {TunedOperation::exchange, true, {"pairwise", "bruck"}},
             {TunedOperation::exchange, false, {"pairwise", "hybrid"}}}};
}

std::string tuning_of(Export const& made) {
    auto const found = made.env.find("UCC_TL_UCP_TUNE");
    return found == made.env.end() ? "" : found->second;
}

TEST(UccExport, SaysWhatTheTableSays) {
    expect_agreement(shape(), [](TuningTable const& table, std::vector<Lost>& lost) {
        Export const made = to_ucc(table, {{}, "", "fp32", ""});
        lost = made.lost;
        return [tokens = read(tuning_of(made))](Point const& point) { return run(tokens, point); };
    });
}

TEST(UccExport, WritesEndsThatAreOutside) {
    TuningTable table = table_of({make_rule(shape(), TunedOperation::allreduce, "knomial", {4, 4}, {0, 65536})});
    EXPECT_EQ(tuning_of(to_ucc(table, {})), "allreduce:host:0-65537:[4-4]:@knomial");
    table.rules[0].when.bytes->max = no_limit;
    EXPECT_EQ(tuning_of(to_ucc(table, {})), "allreduce:host:[4-4]:@knomial");
}

TEST(UccExport, SaysHowReduceScattersInPlaceAreLookedUp) {
    auto const notes = [](TunedOperation operation) {
        return to_ucc(table_of({make_rule(shape(), operation, "knomial", {4, 4}, {0, 65536})}), {}).notes;
    };
    EXPECT_TRUE(notes(TunedOperation::reduce_scatter).back().starts_with("UCC looks up reduce_scatters in place"));
    EXPECT_EQ(notes(TunedOperation::allreduce).size() + 1, notes(TunedOperation::reduce_scatter).size());
}

TEST(UccExport, WritesSectionsWhereRulesSpeakOfNodes) {
    TuningTable table = table_of({make_rule(shape(), TunedOperation::allreduce, "knomial", {4, 8}, {0, 65536})});
    table.rules[0].when.nodes = CountInterval{2, 2};
    Export const made = to_ucc(table, {2, "", "", ""});
    EXPECT_EQ(made.files.at(0).text, "[team_size=4-8 nnodes=2]\nUCC_TL_UCP_TUNE=allreduce:host:0-65537:@knomial\n");
    EXPECT_EQ(made.env.count("UCC_TL_UCP_TUNE"), 0U) << "a variable would beat the file";
}

/// UCC reads the ends of a section's range by strtol, and takes any one of several sections that hold for a team
/// (ucc_parser.c).
TEST(UccExport, WritesOneSectionForEachNumberOfRanks) {
    TuningTable table = table_of({make_rule(shape(), TunedOperation::allreduce, "knomial", {4, 8}, {0, no_limit}),
                                  make_rule(shape(), TunedOperation::broadcast, "dbt", {1, no_limit}, {0, no_limit})});
    table.rules[0].when.nodes = table.rules[1].when.nodes = CountInterval{2, 2};
    EXPECT_EQ(to_ucc(table, {2, "", "", ""}).files.at(0).text,
              "[team_size=1-3 nnodes=2]\nUCC_TL_UCP_TUNE=bcast:host:@dbt\n"
              "[team_size=4-8 nnodes=2]\nUCC_TL_UCP_TUNE=allreduce:host:@knomial#bcast:host:@dbt\n"
              "[team_size=9-2147483647 nnodes=2]\nUCC_TL_UCP_TUNE=bcast:host:@dbt\n");
}

}  // namespace
}  // namespace dlmb::tuning::ucc_test
