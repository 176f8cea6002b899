// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// The rules files of Open MPI 4.1 and 5.0, read as coll_tuned_dynamic_file.c and coll_tuned_dynamic_rules.c do:
// numbers, # to the end of a line; the last entry that is not above the ranks, or the first one; in it the last row
// that is not above the bytes. Those of coll/han as coll_han_dynamic_file.c and coll_han_dynamic.c do. Then the
// exporter's ids against those that the library prints, and what changed between versions.
#include "common/tools/tune/exporters/select_rules.hpp"
#include "tests/unit/tuning_export/agreement.hpp"
#include "tests/unit/tuning_export/open_mpi_names.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <sstream>

namespace dlmb::tuning::open_mpi_test {
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

/// The words of a file, whose comments both components pass over.
class Words {
public:
    explicit Words(std::string const& text) : text_(text) {
        std::istringstream lines(text);
        std::string words;
        for (std::string line; std::getline(lines, line);) {
            words += line.substr(0, line.find('#')) + "\n";
        }
        words_.str(words);
    }
    ~Words() {
        std::string rest;
        EXPECT_FALSE(words_ >> rest) << "left over: " << rest;
    }
    Words(Words const&) = delete;
    Words& operator=(Words const&) = delete;

    template <class Value = long long>
    Value next() {
        Value value{};
        EXPECT_TRUE(words_ >> value) << "the file ends early:\n" << text_;
        return value;
    }

private:
    std::string text_;
    std::istringstream words_;
};

Rules read(std::string const& text) {
    Words words(text);
    Rules rules;
    for (long long collectives = words.next(); collectives > 0; --collectives) {
        auto& comms = rules[words.next<int>()];
        for (long long count = words.next(); count > 0; --count) {
            comms.push_back({words.next<std::uint64_t>(), {}});
            for (long long rows = words.next(); rows > 0; --rows) {
                auto const bytes = words.next<Bytes>();
                auto const algorithm = words.next<int>();
                auto const fanout = words.next<int>();
                comms.back().rows.push_back({bytes, algorithm, fanout, words.next<int>()});
            }
        }
    }
    return rules;
}

/// What coll/han does on all ranks of several nodes, by collective, ranks and bytes: "han" or "tuned".
using HanRules = std::map<int, std::map<std::uint64_t, std::map<Bytes, std::string>>>;

/// As coll_han_dynamic_file.c of 5.0 does.
HanRules read_han(std::string const& text) {
    Words words(text);
    HanRules rules;
    for (long long collectives = words.next(); collectives > 0; --collectives) {
        auto& comms = rules[words.next<int>()];
        EXPECT_EQ(words.next(), 1) << "levels";
        EXPECT_EQ(words.next(), 2) << "the level of all ranks";
        for (long long count = words.next(); count > 0; --count) {
            auto& rows = comms[words.next<std::uint64_t>()];
            for (long long left = words.next(); left > 0; --left) {
                auto const bytes = words.next<Bytes>();
                rows[bytes] = words.next<std::string>();
            }
            EXPECT_EQ(rows.begin()->first, 0U) << "Open MPI passes over the rest of the file";
        }
        EXPECT_EQ(comms.begin()->first, 1U) << "Open MPI passes over the rest of the file";
    }
    return rules;
}

/// Whether coll/han leaves the call to coll/tuned: it has no all-to-alls and no reduce-scatters.
bool leaves_to_tuned(HanRules const& rules, Point const& point) {
    auto const found = rules.find(collective_id(point));
    bool const taken = point.operation == TunedOperation::allreduce || point.operation == TunedOperation::broadcast ||
                       point.operation == TunedOperation::allgather;
    if (!taken || found == rules.end()) {
        return !taken;
    }
    Bytes const bytes = point.operation == TunedOperation::allgather ? point.bytes / point.ranks : point.bytes;
    auto const& rows = std::prev(found->second.upper_bound(point.ranks))->second;
    return std::prev(rows.upper_bound(bytes))->second == "tuned";
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
    // alltoallv is matched as if it had no bytes. An allgather of none runs nothing.
    Bytes const bytes = point.operation == TunedOperation::exchange && !point.uniform      ? 0
                        : point.operation == TunedOperation::allgather && point.bytes == 0 ? 1
                                                                                           : point.bytes;
    Row row{};
    for (Row const& one : comm->rows) {
        row = one.bytes <= bytes ? one : row;
    }
    return row;
}

TuningTable one_rule() {
    return table_of({make_rule(open_mpi_shape(), TunedOperation::allreduce, "ring", {4, 4}, {65536, 524288})});
}

TEST(OpenMpiText, SaysWhatTheTableSays) {
    expect_agreement(open_mpi_shape(), [](TuningTable const& table, std::vector<Lost>& lost) {
        Export const made = to_open_mpi(table, {{}, "host", "fp32", ""}, {"4.1.4"}, true);
        lost = made.lost;
        return [rules = read(made.files.at(0).text)](Point const& point) {
            return name_of_id(point, run(rules, point).algorithm);
        };
    });
}

TEST(OpenMpiText, LetsHanHandOnWhatTheTableSaysAndNothingElse) {
    expect_agreement(open_mpi_shape(), [](TuningTable const& table, std::vector<Lost>& lost) {
        Export const made = to_open_mpi(table, {2, "host", "fp32", ""}, {"5.0.11"}, true);
        lost = made.lost;
        HanRules const han = made.files.size() == 2 ? read_han(made.files.at(1).text) : HanRules{};
        return [rules = read(made.files.at(0).text), han](Point const& point) {
            return leaves_to_tuned(han, point) ? name_of_id(point, run(rules, point).algorithm) : "";
        };
    });
}

TEST(OpenMpiText, NamesHanWhereItStandsFirst) {
    auto const files = [](std::optional<std::uint64_t> nodes, std::string const& version) {
        return to_open_mpi(one_rule(), {nodes, "host", "", ""}, version, true).files.size();
    };
    EXPECT_EQ(files(2, "4.1.8"), 1U);
    EXPECT_EQ(files(1, "5.0.11"), 1U);
    EXPECT_EQ(files(2, "5.0.11"), 2U);
    EXPECT_EQ(files({}, "5.0.11"), 2U);
    Export const made = to_open_mpi(one_rule(), {2, "host", "", ""}, {"5.0.11"}, true);
    EXPECT_EQ(made.files.at(1).text,
              "1  # collectives; then: id, levels; level, entries; ranks, rows; from bytes, component\n"
              "2 1  # allreduce\n2 3\n"
              "1 1\n  0 han\n"
              "4 3\n  0 han\n  65536 tuned\n  524289 han\n"
              "5 1\n  0 han\n");
    EXPECT_EQ(made.env.at("OMPI_MCA_coll_han_dynamic_rules_filename"), "@FOLDER@/dlmb_han_rules.conf");
}

TEST(OpenMpiText, FencesOffWhatWasNotMeasured) {
    Export const made = to_open_mpi(one_rule(), {{}, "host", "", ""}, {"4.1.4"}, true);
    EXPECT_TRUE(made.lost.empty());
    // Columns and ids: section "Open MPI" of docs/tuning-consumers.md; 2 is allreduce, 4 its ring.
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
    Export const made = to_open_mpi(table, {{}, "host", "", ""}, {"4.1.4"}, true);
    Row const row = run(read(made.files.at(0).text), {TunedOperation::allreduce, false, 65536, 4});
    EXPECT_EQ(row.fanout, 3);
    EXPECT_EQ(row.segment, 4096);
}

Row row_of(Rule const& rule, Point const& point) {
    Export const made = to_open_mpi(table_of({rule}), {{}, "host", "", ""}, {"4.1.4"});
    EXPECT_TRUE(made.lost.empty());
    return run(read(made.files.at(0).text), point);
}

// A fan-out of 0 is a pipeline, which nobody measured.
TEST(OpenMpiText, ChainsHaveTheFanoutThatTheyWereMeasuredWith) {
    Rule chain = make_rule(open_mpi_shape(), TunedOperation::broadcast, "chain", {5, 5}, {65536, 65536});
    EXPECT_EQ(row_of(chain, {TunedOperation::broadcast, false, 65536, 5}).fanout, 4);
    chain.choose.params.fanout = 2;
    EXPECT_EQ(row_of(chain, {TunedOperation::broadcast, false, 65536, 5}).fanout, 2);
}

// Open MPI looks them up with 0 bytes, whatever they have.
TEST(OpenMpiText, LeavesAllgathersInPlaceWithoutASendCountToTheLibrary) {
    Rule const ring = make_rule(open_mpi_shape(), TunedOperation::allgather, "ring", {4, 4}, {0, 65536});
    std::string const text = to_open_mpi(table_of({ring}), {{}, "host", "", ""}, {"4.1.4"}).files.at(0).text;
    EXPECT_NE(text.find("4 3\n  0 0 0 0\n  1 4 0 0\n  65537 0 0 0\n"), std::string::npos) << text;
    Rule const nothing = make_rule(open_mpi_shape(), TunedOperation::allgather, "ring", {4, 4}, {0, 0});
    EXPECT_FALSE(to_open_mpi(table_of({nothing}), {{}, "host", "", ""}, {"4.1.4"}).chooses);
}

TEST(OpenMpiText, RingsOfAnAllreduceNeedOperationsThatCommute) {
    for (std::string const name : {"ring", "segmented_ring", "recursive_doubling", "rabenseifner"}) {
        TuningTable const table =
            table_of({make_rule(open_mpi_shape(), TunedOperation::allreduce, name, {4, 4}, {65536, 524288})});
        Export const made = to_open_mpi(table, {{}, "host", "", ""}, {"4.1.4"});
        EXPECT_EQ(made.chooses, name.find("ring") == name.npos) << name;
        EXPECT_EQ(made.lost.empty(), made.chooses);
        EXPECT_TRUE(made.chooses || made.lost[0].detail.find("--commutative") != std::string::npos);
        EXPECT_TRUE(to_open_mpi(table, {{}, "host", "", ""}, {"4.1.4"}, true).lost.empty());
    }
}

TEST(OpenMpiText, SaysWhichBroadcastsNeedEqualCounts) {
    auto const says = [](std::string const& name, std::optional<Bytes> segment) {
        Rule rule = make_rule(open_mpi_shape(), TunedOperation::broadcast, name, {4, 4}, {65536, 65536});
        rule.choose.params.segment_bytes = segment;
        Export const made = to_open_mpi(table_of({rule}), {{}, "host", "", ""}, {"4.1.4"});
        return std::any_of(made.notes.begin(), made.notes.end(),
                           [](std::string const& note) { return note.starts_with("broadcasts whose root"); });
    };
    EXPECT_TRUE(says("split_binary_tree", {}));
    EXPECT_TRUE(says("scatter_allgather", {}));
    EXPECT_TRUE(says("scatter_allgather_ring", {}));
    EXPECT_TRUE(says("pipeline", 1024));
    EXPECT_FALSE(says("pipeline", {}));
    EXPECT_FALSE(says("binomial", {}));
}

TEST(OpenMpiText, LosesARuleWhoseNameAndIdContradictEachOther) {
    TuningTable table = one_rule();
    table.rules[0].choose.algorithm->id = 4;
    EXPECT_TRUE(to_open_mpi(table, {{}, "host", "", ""}, {"4.1.4"}, true).lost.empty());
    table.rules[0].choose.algorithm->id = 6;
    EXPECT_EQ(to_open_mpi(table, {{}, "host", "", ""}, {"4.1.4"}, true).lost.at(0).why, LostReason::unknown_algorithm);
}

TEST(OpenMpiText, WritesTheSecondFormatOnlyForVersionsThatReadIt) {
    TuningTable table = one_rule();
    table.rules[0].choose.params.max_requests = 8;
    Export const old = to_open_mpi(table, {{}, "host", "", ""}, {"5.0.6"}, true);
    ASSERT_EQ(old.lost.size(), 1U);
    EXPECT_EQ(old.lost[0].why, LostReason::key_not_expressible);
    Export const recent = to_open_mpi(table, {{}, "host", "", ""}, {"5.0.7"}, true);
    EXPECT_TRUE(recent.lost.empty());
    EXPECT_EQ(recent.files.at(0).text.rfind("rule-file-version-2\n", 0), 0U);
    EXPECT_NE(recent.files.at(0).text.find("  65536 4 0 0 8\n"), std::string::npos);
}

// Its reader (coll_tuned_dynamic_file.c) ends an entry below its own number of ranks: what is of 4 would hold for 0
// to 3.
TEST(OpenMpiText, IsNotWrittenForVersion6) {
    Export const made = to_open_mpi(one_rule(), {{}, "host", "", ""}, {"6.0.0"});
    EXPECT_FALSE(made.chooses);
    ASSERT_EQ(made.lost.size(), 1U);
    EXPECT_EQ(made.lost[0].why, LostReason::operation_not_tunable);
}

TEST(OpenMpiAlgorithms, HaveTheIdsThatVersion414Prints) {
    for (MpiCall const collective : exported_calls) {
        auto const& names = names_by_id().at(open_mpi_id(collective));
        for (std::size_t id = 1; id < names.size(); ++id) {
            EXPECT_EQ(open_mpi_id(collective, names[id], {4, 1, 4}), static_cast<int>(id)) << names[id];
        }
    }
}

TEST(OpenMpiAlgorithms, AreKnownByVersion) {
    EXPECT_FALSE(open_mpi_id(MpiCall::allgather, "sparbit", {4, 1, 4}));
    EXPECT_EQ(open_mpi_id(MpiCall::allgather, "sparbit", {5, 0, 8}), 7);
    EXPECT_FALSE(open_mpi_id(MpiCall::allreduce, "", {4, 1, 4}));
}

TEST(OpenMpiAlgorithms, SayForWhichRanksTheyDoNotRun) {
    EXPECT_TRUE(open_mpi_obstacle("two_proc", {2, 2}).empty());
    EXPECT_FALSE(open_mpi_obstacle("two_proc", {2, 4}).empty());
    EXPECT_TRUE(open_mpi_obstacle("neighbor", {6, 6}).empty());
    EXPECT_FALSE(open_mpi_obstacle("neighbor", {5, 5}).empty());
    EXPECT_TRUE(open_mpi_obstacle("ring", {1, no_limit}).empty());
}

TEST(LibraryVersion, IsReadFromItsFirstNumbers) {
    EXPECT_EQ(parse_version("4.1.4"), (LibraryVersion{4, 1, 4}));
    EXPECT_EQ(parse_version("5.0.8rc1"), (LibraryVersion{5, 0, 8}));
    EXPECT_EQ(parse_version("6.0"), (LibraryVersion{6, 0, 0}));
    EXPECT_ANY_THROW((void)parse_version("v4"));
}

}  // namespace
}  // namespace dlmb::tuning::open_mpi_test
