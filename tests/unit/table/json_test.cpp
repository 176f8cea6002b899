// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/formats/table/query.hpp"
#include "common/formats/table/table_file.hpp"
#include "tests/unit/record/temporary_folder.hpp"
#include "tests/unit/table/sample_table.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <functional>

namespace dlmb::tuning {
namespace {

using Json = nlohmann::ordered_json;

/// The message of the error, after the name of the file.
std::string refusal_of(std::string const& text, TableFault fault = TableFault::schema) {
    try {
        (void)parse_table(text, "table.json");
    } catch (TableError const& error) {
        EXPECT_EQ(error.fault(), fault) << error.what();
        std::string const what = error.what();
        EXPECT_EQ(what.find('\n'), std::string::npos) << what;
        EXPECT_TRUE(what.starts_with("table.json: ")) << what;
        return what.substr(12);
    }
    return "accepted";
}

std::string refusal_after(std::function<void(Json&)> const& change) {
    Json table = Json::parse(to_json(sample_table()));
    change(table);
    return refusal_of(table.dump());
}

TEST(TableJson, ComesBackAsItWasWritten) {
    TuningTable const table = sample_table();
    EXPECT_EQ(parse_table(to_json(table), "x"), table);
    EXPECT_EQ(to_json(parse_table(to_json(table), "x")), to_json(table));
}

// MCR-DL (arXiv 2303.08374): what a table says of one shape of a launch it says of no other, before and after it is
// written. Where no rule matches, the baseline runs its default.
TEST(TableJson, ThatCameBackAnswersForItsOwnNodesRanksPerNodeOperationAndTypeOnly) {
    TuningTable const table = parse_table(to_json(sample_table()), "x");
    Key own;  // of rule r002
    own.operation = TunedOperation::allreduce;
    own.bytes = 65536;
    own.ranks = 4;
    own.nodes = 1;
    own.memory = "host";
    own.dtype = "fp32";
    own.reduction = "sum";
    Match const match = lookup(table, own, "mpi");
    ASSERT_TRUE(match);
    EXPECT_EQ(match.deciding()->id, "r002");
    struct Other {
        char const* what;
        void (*change)(Key&);
    };
    for (Other const& other :
         {Other{"nodes", [](Key& key) { key.nodes = 4; }}, Other{"ranks per node", [](Key& key) { key.ranks = 8; }},
          Other{"operation", [](Key& key) { key.operation = TunedOperation::broadcast; }},
          Other{"type", [](Key& key) { key.dtype = "bf16"; }}}) {
        Key asked = own;
        other.change(asked);
        EXPECT_FALSE(lookup(table, asked, "mpi")) << "another " << other.what;
    }
}

TEST(TableJson, HasTheSameBytesForRulesInAnyOrderAndForAnyLayout) {
    TuningTable shuffled = sample_table();
    std::reverse(shuffled.rules.begin(), shuffled.rules.end());
    EXPECT_EQ(to_json(shuffled), to_json(sample_table()));
    std::string const compact = Json::parse(to_json(sample_table())).dump();
    EXPECT_EQ(to_json(parse_table(compact, "x")), to_json(sample_table()));
}

TEST(TableJson, KeepsAllSixtyFourBitsOfASize) {
    TuningTable table = sample_table();
    table.rules = {plain_rule("r", "mpi", TunedOperation::allreduce)};
    table.rules[0].when.bytes = {Bytes{1} << 63, no_limit - 1};
    EXPECT_EQ(parse_table(to_json(table), "x").rules[0].when.bytes, table.rules[0].when.bytes);
}

TEST(TableJson, RefusesATableThatIsNotValidBeforeWritingIt) {
    TuningTable table = sample_table();
    table.rules.push_back(table.rules.front());
    EXPECT_THROW((void)to_json(table), UsageError);
}

TEST(TableJson, SaysWhereAndWhyATableIsRefused) {
    struct Case {
        std::function<void(Json&)> change;
        char const* begin;
    };
    auto const when = [](Json& table) -> Json& { return table["rules"][0]["when"]; };
    auto const make_foreign = [](Json& evidence) {
        evidence["foreign"] = {{"suite", "pico"}, {"statistic", "median"}};
        evidence["confirmed"] = 0;
        evidence.erase("ci");
    };
    std::vector<Case> const cases{
        {[&](Json& table) { when(table)["operation"] = "alltoal"; }, "rules[0].when.operation: 'alltoal' is none of"},
        {[&](Json& table) { when(table).erase("operation"); }, "rules[0].when.operation: is missing"},
        {[&](Json& table) { when(table)["bytes"]["basis"] = "total"; }, "rules[0].when.bytes.basis: 'total' is not"},
        {[&](Json& table) { when(table)["bytes"]["min"] = -1; }, "rules[0].when.bytes.min: must be a whole number"},
        {[&](Json& table) { when(table)["bytes"]["min"] = 1.5; }, "rules[0].when.bytes.min: must be a whole number"},
        {[&](Json& table) { when(table)["bytes"]["min"] = "1"; }, "rules[0].when.bytes.min: must be a whole number"},
        {[&](Json& table) { when(table)["bytes"]["min"] = 524289; }, "rules[0].when.bytes: min 524289 is above"},
        {[&](Json& table) { when(table)["ranks"] = 4; }, "rules[0].when.ranks: must be an object"},
        {[&](Json& table) { when(table)["colour"] = "host"; }, "rules[0].when: unknown field 'colour'; it has "},
        {[&](Json& table) { when(table)["uniform"] = 1; }, "rules[0].when.uniform: must be true or false"},
        {[&](Json& table) { when(table)["memory"] = ""; }, "accepted"},
        {[&](Json& table) { when(table)["memory"] = nullptr; }, "accepted"},
        {[](Json& table) { table["rules"][0]["status"] = "best"; }, "rules[0].status: 'best' is none of"},
        {[](Json& table) { table["rules"][0]["evidence"]["ci"] = {1}; }, "rules[0].evidence.ci: must be [low, high]"},
        {[&](Json& table) { make_foreign(table["rules"][0]["evidence"]); }, "accepted"},
        {[&](Json& table) {
             make_foreign(table["rules"][0]["evidence"]);
             table["rules"][0]["evidence"]["ci"] = {0.1, 0.3};
         },
         "rules[0].evidence: unknown field 'ci'"},
        {[&](Json& table) {
             Json& evidence = table["rules"][0]["evidence"];
             evidence["predicted"] = {{"fitted_nodes", 64}, {"held_out_error", 0.2}};
             evidence["launches"] = evidence["confirmed"] = 0;
         },
         "accepted"},
        {[&](Json& table) {
             table["rules"][0]["evidence"]["predicted"] = {{"held_out_error", 0.2}};
         },
         "rules[0].evidence.predicted.fitted_nodes: is missing"},
        {[](Json& table) { table["rules"][0]["evidence"].erase("ci"); }, "rules[0].evidence.ci: is missing"},
        {[](Json& table) { table["rules"] = nullptr; }, "rules: is missing"},
        {[](Json& table) { table["rules"][1] = table["rules"][0]; }, "rules[1].id: "},
        {[](Json& table) { table["system"]["gpu"] = ""; }, "system.gpu: is empty"},
        {[&](Json& table) {
             when(table)["ppn"] = {{"min", 1}, {"max", 1}};
         },
         "rules[0].when: unknown field 'ppn'"},
        {[](Json& table) { table["schema"] = "dlmb.tuning-table/2.0"; }, "schema: 'dlmb.tuning-table/2.0' cannot be"},
        {[](Json& table) { table["schema"] = "dlmb.result/1.0"; }, "schema: 'dlmb.result/1.0' cannot be read"},
        {[](Json& table) { table["extra"] = 1; }, "the table: unknown field 'extra'; it has "},
        {[](Json& table) { table = Json::array(); }, "the table: must be an object"},
    };
    for (Case const& each : cases) {
        std::string const refusal = refusal_after(each.change);
        EXPECT_TRUE(refusal.starts_with(each.begin)) << refusal << "\nexpected: " << each.begin;
    }
}

TEST(TableJson, PassesOverWhatALaterMinorVersionAddsButNeverInARule) {
    auto const later = [](Json& table) {
        table["schema"] = "dlmb.tuning-table/1.9";
        table["extra"] = 1;
        table["system"]["extra"] = 1;
    };
    EXPECT_EQ(refusal_after(later), "accepted");
    EXPECT_TRUE(refusal_after([&](Json& table) {
                    later(table);
                    table["rules"][0]["when"]["extra"] = 1;
                }).starts_with("rules[0].when: unknown field 'extra'"));
}

TEST(TableJson, RefusesWhatIsNotJson) {
    std::string const text = to_json(sample_table());
    EXPECT_TRUE(refusal_of("", TableFault::syntax).starts_with("line 1: not JSON"));
    EXPECT_TRUE(refusal_of(text.substr(0, text.size() / 2), TableFault::syntax).find("not JSON") != std::string::npos);
    EXPECT_EQ(refusal_of(R"({"schema": 1, "schema": 2})", TableFault::syntax), "the field 'schema' is there twice");
    EXPECT_EQ(refusal_of(std::string(100'000, '['), TableFault::syntax), "nests deeper than 16");
    EXPECT_TRUE(refusal_of("{\"x\": 1e999}", TableFault::syntax).starts_with("not JSON"));
    EXPECT_TRUE(refusal_of("{\"x\": NaN}", TableFault::syntax).starts_with("line 1: not JSON"));
}

TEST(TableFile, IsWrittenAsAWholeAndReadAgain) {
    record::TemporaryFolder const folder;
    write_table(folder / "table.json", sample_table());
    EXPECT_EQ(read_table(folder / "table.json"), sample_table());
    EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder / ""), {}), 1) << "no partial file is left";
    EXPECT_THROW(write_table(folder / "none/table.json", sample_table()), OutputError);
}

TEST(TableFile, ThatCannotBeReadIsAnInputOutputFault) {
    record::TemporaryFolder const folder;
    for (std::filesystem::path const& path : {folder / "none.json", folder / ""}) {
        try {
            (void)read_table(path);
            ADD_FAILURE() << path;
        } catch (TableError const& error) {
            EXPECT_EQ(error.fault(), TableFault::io) << error.what();
        }
    }
}

TEST(TableFile, HoldsForItsSystemOnly) {
    TuningTable const table = sample_table();
    EXPECT_NO_THROW(require_system(table, table.system.key, "x"));
    EXPECT_THROW(require_system(table, "", "x"), TableError);
    EXPECT_THROW(require_system(table, "00112233aabbccde", "x"), TableError);
}

}  // namespace
}  // namespace dlmb::tuning
