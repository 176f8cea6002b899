// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/base/error.hpp"
#include "common/formats/record/json.hpp"
#include "common/formats/record/result_file.hpp"
#include "tests/unit/record/sample_records.hpp"
#include "tests/unit/record/temporary_folder.hpp"

#include <gtest/gtest.h>

#include <csignal>
#include <fstream>
#include <set>
#include <sys/stat.h>
#include <thread>

namespace dlmb::record {
namespace {

std::string launch_line() {
    return to_json_line(sample_launch()) + "\n";
}
std::string cell_line(Record const& cell) {
    return to_json_line(sample_launch().launch_id, cell) + "\n";
}
std::string end_line() {
    return to_json_line(sample_end()) + "\n";
}

std::set<std::string> finished_ids(std::filesystem::path const& path) {
    std::set<std::string> ids;
    for (auto const& [id, stored] : finished_cells(path, sample_cell().identity.pattern).cells) {
        ids.insert(id);
    }
    return ids;
}

std::string refusal(std::filesystem::path const& path) {
    try {
        (void)read_results(path);
    } catch (UsageError const& error) {
        return error.what();
    }
    return "nothing was thrown";
}

TEST(ResultReader, ReadsALaunchItsCellsAndItsEnd) {
    TemporaryFolder const folder;
    write_file(folder / "r", launch_line() + cell_line(sample_cell()) + cell_line(sample_skipped_cell()) + end_line());
    ResultFile const results = read_results(folder / "r");
    ASSERT_EQ(results.launches.size(), 1U);
    ASSERT_EQ(results.cells.size(), 2U);
    ASSERT_EQ(results.ends.size(), 1U);
    EXPECT_TRUE(results.remarks.empty());
    EXPECT_EQ(results.cells[0].launch_id, sample_launch().launch_id);
    EXPECT_EQ(results.cells[1].cell.result.reason, "nccl: no CUDA device");
}

TEST(ResultReader, RefusesResultsWithoutEndFromAFifo) {
    TemporaryFolder const folder;
    std::string const fifo = folder / "fifo";
    ASSERT_EQ(mkfifo(fifo.c_str(), S_IRUSR | S_IWUSR), 0);
    std::signal(SIGPIPE, SIG_IGN);
    std::thread writer([&] {
        std::ofstream file(fifo, std::ios::binary);
        while (file << launch_line() << std::flush) {
        }
    });
    try {
        (void)read_results(fifo, Converted::refused, Bytes{1} << 20);
        ADD_FAILURE() << "nothing was thrown";
    } catch (UsageError const& error) {
        EXPECT_NE(std::string(error.what()).find(": more than 1 MiB from what is no regular file"), std::string::npos)
            << error.what();
    }
    writer.join();
    write_file(folder / "r", launch_line() + launch_line() + end_line());
    EXPECT_EQ(read_results(folder / "r", Converted::refused, 1).launches.size(), 2U) << "a regular file has an end";
}

TEST(ResultReader, RefusesNumbersThatTheirFieldCannotHold) {
    TemporaryFolder const folder;
    for (char const* number : {"1e300", "-1e300", "4294967296", "0.5", "true"}) {
        Json line = Json::parse(launch_line());
        line["world"]["ranks"] = Json::parse(number);
        write_file(folder / "r", line.dump() + "\n" + end_line());
        EXPECT_EQ(refusal(folder / "r"),
                  (folder / "r").string() + ":1: world.ranks: must be a whole number from -2147483648 to 2147483647")
            << number;
    }
}

TEST(ResultReader, SaysThatALaunchWithoutAnEndLineWasKilled) {
    TemporaryFolder const folder;
    write_file(folder / "r", launch_line() + cell_line(sample_cell()));
    ResultFile const results = read_results(folder / "r");
    EXPECT_EQ(results.cells.size(), 1U);
    ASSERT_EQ(results.remarks.size(), 1U);
    EXPECT_NE(results.remarks[0].find("no end line"), std::string::npos);
}

TEST(ResultReader, SaysThatALaunchOnATestDoubleMeasuredNothing) {
    TemporaryFolder const folder;
    Launch launch = sample_gpu_launch();
    launch.environment.identity["gpus"] = "DLMB test double 0, compute capability 9.0, 4096 B, 2 per node";
    write_file(folder / "r", to_json_line(launch) + "\n" + end_line());
    ResultFile const results = read_results(folder / "r");
    ASSERT_EQ(results.remarks.size(), 1U);
    EXPECT_NE(results.remarks[0].find("no time of this launch is a measurement"), std::string::npos);
}

TEST(ResultReader, ReadsEveryPrefixThatAKillCanLeave) {
    TemporaryFolder const folder;
    std::string const first = launch_line();
    std::string const whole = first + cell_line(sample_cell());
    for (std::size_t size = first.size(); size <= whole.size(); size += 37) {
        write_file(folder / "r", whole.substr(0, size));
        ResultFile const results = read_results(folder / "r");
        EXPECT_EQ(results.cells.size(), size >= whole.size() - 1 ? 1U : 0U) << size;
        EXPECT_FALSE(results.remarks.empty());
    }
}

TEST(ResultReader, CountsALastLineThatOnlyLacksItsNewline) {
    TemporaryFolder const folder;
    std::string content = launch_line() + cell_line(sample_cell());
    content.pop_back();
    write_file(folder / "r", content);
    EXPECT_EQ(read_results(folder / "r").cells.size(), 1U);
    EXPECT_EQ(finished_ids(folder / "r").size(), 1U);
}

TEST(ResultReader, NamesFileAndLineOfALineThatIsBrokenInTheMiddle) {
    TemporaryFolder const folder;
    write_file(folder / "r", launch_line() + "{\"kind\":\"cell\",\n" + cell_line(sample_cell()));
    EXPECT_NE(refusal(folder / "r").find((folder / "r").string() + ":2: "), std::string::npos) << refusal(folder / "r");
    EXPECT_THROW((void)finished_ids(folder / "r"), UsageError);
}

TEST(ResultReader, NamesTheFieldThatIsMissing) {
    TemporaryFolder const folder;
    write_file(folder / "r", launch_line() + "{\"kind\":\"end\",\"launch_id\":\"x\"}\n");
    EXPECT_NE(refusal(folder / "r").find(":2: "), std::string::npos);
    EXPECT_NE(refusal(folder / "r").find("status"), std::string::npos) << refusal(folder / "r");
}

TEST(ResultReader, PassesOverFieldsAndKindsOfALaterMinorVersion) {
    TemporaryFolder const folder;
    std::string launch = launch_line();
    launch.replace(launch.find("dlmb.result/"), 15, "dlmb.result/1.9");
    write_file(folder / "r", launch + "{\"kind\":\"calibration\",\"new\":[1]}\n" + end_line());
    EXPECT_EQ(read_results(folder / "r").launches.size(), 1U);
}

TEST(ResultReader, RefusesAnotherMajorVersion) {
    TemporaryFolder const folder;
    std::string launch = launch_line();
    launch.replace(launch.find("dlmb.result/"), 15, "dlmb.result/2.0");
    write_file(folder / "r", launch);
    EXPECT_NE(refusal(folder / "r").find("dlmb.result/2.0"), std::string::npos) << refusal(folder / "r");
}

/// As dlmb_convert writes them: what the origin does not say is null or absent.
constexpr char const* converted_lines =
    R"({"kind":"launch","schema":"dlmb.result/1.0","launch_id":"0f","campaign_id":"c","time":null,"program":"pico","command":[],)"
    R"("world":{"ranks":8,"ranks_per_node":1},"test_double":false,"environment":{"env_key":"k","identity":{"system":"s"},)"
    R"("informational":{},"variables":{},"ranks":[],"largest_cache_bytes":0,"warnings":[]},"calibration":null,)"
    R"("order_seed":null,"origin":{"suite":"pico","program":"pico","file":"t.csv"}})"
    "\n"
    R"({"kind":"cell","launch_id":"0f","cell_id":"i","pattern":"collective","preset":"","parameters":{"message-size":64},)"
    R"("backend":"mpi","method":"ring_ompi","memory":"host","mode":"pico","world":{"ranks":8,"ranks_per_node":1},)"
    R"("status":"ok","reason":"","traffic":null,"time_ns":{"mean":250.0,"samples":20,"axis":"a"},"bandwidth":null,)"
    R"("definition":"d","validation":{"verdict":"off","of_origin":"off"},"statistics":{},"backend_facts":{},)"
    R"("is_default":false,"origin":{"suite":"pico","program":"pico","file":"t.csv","line":2}})"
    "\n"
    R"({"kind":"end","launch_id":"0f","status":"ok","cells":{"ok":1},"self_comparison":null})"
    "\n";

TEST(ResultReader, ReadsConvertedLinesForThoseThatAskForThem) {
    TemporaryFolder const folder;
    write_file(folder / "r", converted_lines);
    ResultFile const results = read_results(folder / "r", Converted::read);
    ASSERT_EQ(results.cells.size(), 1U);
    EXPECT_EQ(results.launches.at(0).origin->suite, "pico");
    Record const& cell = results.cells[0].cell;
    EXPECT_EQ(cell.origin, (Origin{"pico", "mean"}));
    EXPECT_EQ(cell.result.time.median, 250);
    EXPECT_EQ(cell.result.time.samples, 20U);
    EXPECT_EQ(cell.result.validation.verdict, record::Verdict::off);
    EXPECT_NE(refusal(folder / "r").find(":1: converted from"), std::string::npos) << refusal(folder / "r");
}

TEST(ResultReader, RefusesACellOfALaunchThatTheFileDoesNotHold) {
    TemporaryFolder const folder;
    write_file(folder / "r", cell_line(sample_cell()));
    EXPECT_NE(refusal(folder / "r").find(":1: cell of launch"), std::string::npos) << refusal(folder / "r");
}

TEST(ResultReader, NamesAFileThatIsNotThere) {
    TemporaryFolder const folder;
    EXPECT_NE(refusal(folder / "none").find((folder / "none").string()), std::string::npos);
}

TEST(FinishedCells, AreThoseWithStatusOk) {
    TemporaryFolder const folder;
    write_file(folder / "r", launch_line() + cell_line(sample_cell()) + cell_line(sample_skipped_cell()) +
                                 cell_line(sample_invalid_cell()) + end_line());
    EXPECT_EQ(finished_ids(folder / "r"), std::set<std::string>{sample_cell().cell_id});
}

TEST(FinishedCells, AreOfTheGivenPatternAndKeepWhatIdentifiesThem) {
    TemporaryFolder const folder;
    Record other = sample_cell();
    other.identity.pattern = "another";
    other.cell_id = "another";
    write_file(folder / "r", launch_line() + cell_line(sample_cell()) + cell_line(other));
    auto const finished = finished_cells(folder / "r", sample_cell().identity.pattern);
    ASSERT_EQ(finished.cells.size(), 1U);
    auto const& [id, stored] = *finished.cells.begin();
    EXPECT_EQ(stored.cell.identity, sample_cell().identity);
    EXPECT_EQ(cell_id(stored.cell.identity, {}), cell_id(sample_cell().identity, {}));
    EXPECT_TRUE(stored.cell.result.samples_ns.empty());
    ASSERT_EQ(finished.launches.size(), 1U);
    EXPECT_EQ(finished.launches[0].launch_id, stored.launch_id);
}

TEST(DerivedLines, AddToTheLastOkCellOfTheirIdAbove) {
    TemporaryFolder const folder;
    Record failed = sample_cell();
    failed.result.status = record::Status::failed;
    std::string const derived =
        to_json_line(Derived{sample_launch().launch_id, sample_cell().cell_id, {{"interference", 1.25}}}) + "\n";
    write_file(folder / "r", launch_line() + cell_line(sample_cell()) + cell_line(failed) + derived + end_line());
    ResultFile const results = read_results(folder / "r");
    EXPECT_DOUBLE_EQ(results.cells.at(0).cell.statistics.at("interference"), 1.25);
    EXPECT_EQ(results.cells.at(1).cell.statistics.count("interference"), 0U);
    auto const of_cell = [&] {
        return finished_cells(folder / "r", sample_cell().identity.pattern).cells.begin()->second.cell.statistics;
    };
    EXPECT_DOUBLE_EQ(of_cell().at("interference"), 1.25);
    std::string const later =
        to_json_line(Derived{sample_launch().launch_id, sample_cell().cell_id, {{"interference", 1.5}}}) + "\n";
    write_file(folder / "r", launch_line() + cell_line(sample_cell()) + derived + later);
    EXPECT_DOUBLE_EQ(of_cell().at("interference"), 1.5);
    EXPECT_DOUBLE_EQ(read_results(folder / "r").cells.at(0).cell.statistics.at("interference"), 1.5);
    write_file(folder / "r", launch_line() + cell_line(sample_cell()) + derived + cell_line(sample_cell()));
    EXPECT_EQ(of_cell().count("interference"), 0U) << "it is measured again, and nothing is known of it";
}

TEST(FinishedCells, AreNotUndoneByALaterFailureAndAreDoneByALaterSuccess) {
    TemporaryFolder const folder;
    Record failed = sample_cell();
    failed.result.status = record::Status::failed;
    write_file(folder / "before", launch_line() + cell_line(sample_cell()) + cell_line(failed));
    write_file(folder / "after", launch_line() + cell_line(failed) + cell_line(sample_cell()));
    EXPECT_EQ(finished_ids(folder / "before").size(), 1U);
    EXPECT_EQ(finished_ids(folder / "after").size(), 1U);
}

TEST(FinishedCells, OfAFileThatDoesNotExistAreNone) {
    TemporaryFolder const folder;
    EXPECT_TRUE(finished_ids(folder / "none").empty());
    EXPECT_THROW((void)finished_ids(folder / "."), UsageError) << "a folder";
}

}  // namespace
}  // namespace dlmb::record
