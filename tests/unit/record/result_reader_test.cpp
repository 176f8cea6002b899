// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/formats/record/json.hpp"
#include "common/formats/record/result_file.hpp"
#include "tests/unit/record/sample_records.hpp"
#include "tests/unit/record/temporary_folder.hpp"
#include "tests/unit/usage_error_of.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <fstream>
#include <sys/stat.h>
#include <thread>

namespace dlmb::record {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

std::string launch_line() {
    return to_json_line(sample_launch()) + "\n";
}
std::string cell_line(Record const& cell) {
    return to_json_line(sample_launch().launch_id, cell) + "\n";
}
std::string end_line() {
    return to_json_line(sample_end()) + "\n";
}

class ResultFiles : public testing::Test {
protected:
    ResultFile read(std::string const& content, Converted converted = Converted::refused) const {
        write_file(file, content);
        return read_results(file, converted);
    }
    /// Without the name of the file.
    std::string refusal(std::string const& content) const {
        std::string const text = usage_error_of([&] { (void)read(content); });
        EXPECT_TRUE(text.starts_with(file.string())) << text;
        return text.substr(std::min(text.size(), file.string().size()));
    }
    FinishedCells finished(std::string const& content) const {
        write_file(file, content);
        return finished_cells(file, sample_cell().identity.pattern);
    }

    TemporaryFolder const folder;
    std::filesystem::path const file = folder / "r";
};

using ResultReader = ResultFiles;

TEST_F(ResultReader, ReadsALaunchItsCellsAndItsEnd) {
    ResultFile const results =
        read(launch_line() + cell_line(sample_cell()) + cell_line(sample_skipped_cell()) + end_line());
    ASSERT_EQ(results.launches.size(), 1U);
    ASSERT_EQ(results.cells.size(), 2U);
    ASSERT_EQ(results.ends.size(), 1U);
    EXPECT_TRUE(results.remarks.empty());
    EXPECT_EQ(results.cells[0].launch_id, sample_launch().launch_id);
    EXPECT_EQ(results.cells[1].cell.result.reason, "nccl: no CUDA device");
}

TEST_F(ResultReader, RefusesResultsWithoutEndFromAFifo) {
    std::string const fifo = folder / "fifo";
    ASSERT_EQ(mkfifo(fifo.c_str(), S_IRUSR | S_IWUSR), 0);
    std::signal(SIGPIPE, SIG_IGN);
    std::thread writer([&] {
        std::ofstream endless(fifo, std::ios::binary);
        while (endless << launch_line() << std::flush) {
        }
    });
    EXPECT_THAT(usage_error_of([&] { (void)read_results(fifo, Converted::refused, Bytes{1} << 20); }),
                HasSubstr(": more than 1 MiB from what is no regular file"));
    writer.join();
    write_file(file, launch_line() + launch_line() + end_line());
    EXPECT_EQ(read_results(file, Converted::refused, 1).launches.size(), 2U) << "a regular file has an end";
}

TEST_F(ResultReader, RefusesNumbersThatTheirFieldCannotHold) {
    for (char const* number : {"1e300", "-1e300", "4294967296", "0.5", "true"}) {
        Json line = Json::parse(launch_line());
        line["world"]["ranks"] = Json::parse(number);
        EXPECT_EQ(refusal(line.dump() + "\n" + end_line()),
                  ":1: world.ranks: must be a whole number from -2147483648 to 2147483647")
            << number;
    }
}

TEST_F(ResultReader, SaysThatALaunchWithoutAnEndLineWasKilled) {
    ResultFile const results = read(launch_line() + cell_line(sample_cell()));
    EXPECT_EQ(results.cells.size(), 1U);
    EXPECT_THAT(results.remarks, ElementsAre(HasSubstr("no end line")));
}

TEST_F(ResultReader, SaysThatALaunchOnATestDoubleMeasuredNothing) {
    Launch launch = sample_gpu_launch();
    launch.environment.identity["gpus"] = "DLMB test double 0, compute capability 9.0, 4096 B, 2 per node";
    EXPECT_THAT(read(to_json_line(launch) + "\n" + end_line()).remarks,
                ElementsAre(HasSubstr("no time of this launch is a measurement")));
}

// A last line that only lacks its newline counts.
TEST_F(ResultReader, ReadsEveryPrefixThatAKillCanLeave) {
    std::string const first = launch_line();
    std::string const whole = first + cell_line(sample_cell());
    std::size_t const last = whole.size() - 1;
    for (std::size_t size = first.size(); size <= last; size = size == last ? size + 1 : std::min(size + 37, last)) {
        ResultFile const results = read(whole.substr(0, size));
        EXPECT_EQ(results.cells.size(), size == last ? 1U : 0U) << size;
        EXPECT_FALSE(results.remarks.empty());
        EXPECT_EQ(finished(whole.substr(0, size)).cells.size(), results.cells.size());
    }
}

TEST_F(ResultReader, NamesLineAndFieldOfWhatItCannotRead) {
    EXPECT_THAT(refusal(launch_line() + "{\"kind\":\"cell\",\n" + cell_line(sample_cell())), StartsWith(":2: "));
    EXPECT_THROW((void)finished_cells(file, sample_cell().identity.pattern), UsageError);
    EXPECT_THAT(refusal(launch_line() + "{\"kind\":\"end\",\"launch_id\":\"x\"}\n"),
                AllOf(StartsWith(":2: "), HasSubstr("status")));
    EXPECT_THAT(refusal(cell_line(sample_cell())), StartsWith(":1: cell of launch")) << "which has no line above";
    EXPECT_THAT(usage_error_of([&] { (void)read_results(folder / "none"); }), HasSubstr((folder / "none").string()));
}

TEST_F(ResultReader, PassesOverWhatALaterMinorVersionHasAndRefusesAnotherMajorOne) {
    auto const launch_of = [](char const* version) {
        std::string launch = launch_line();
        return launch.replace(launch.find("dlmb.result/"), 15, version);
    };
    ResultFile const later =
        read(launch_of("dlmb.result/1.9") + "{\"kind\":\"calibration\",\"new\":[1]}\n" + end_line());
    EXPECT_EQ(later.launches.size(), 1U);
    EXPECT_THAT(refusal(launch_of("dlmb.result/2.0")), HasSubstr("dlmb.result/2.0"));
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

TEST_F(ResultReader, ReadsConvertedLinesForThoseThatAskForThem) {
    ResultFile const results = read(converted_lines, Converted::read);
    ASSERT_EQ(results.cells.size(), 1U);
    EXPECT_EQ(results.launches.at(0).origin->suite, "pico");
    Record const& cell = results.cells[0].cell;
    EXPECT_EQ(cell.origin, (Origin{"pico", "mean"}));
    EXPECT_EQ(cell.result.time.median, 250);
    EXPECT_EQ(cell.result.time.samples, 20U);
    EXPECT_EQ(cell.result.validation.verdict, record::Verdict::off);
    EXPECT_THAT(refusal(converted_lines), StartsWith(":1: converted from"));
}

using FinishedInFile = ResultFiles;

TEST_F(FinishedInFile, AreThoseOfThePatternWithStatusOkAndKeepWhatIdentifiesThem) {
    Record other = sample_cell();
    other.identity.pattern = "another";
    other.cell_id = "another";
    auto const results = finished(launch_line() + cell_line(sample_cell()) + cell_line(sample_skipped_cell()) +
                                  cell_line(sample_invalid_cell()) + cell_line(other) + end_line());
    ASSERT_EQ(results.cells.size(), 1U);
    auto const& [id, stored] = *results.cells.begin();
    EXPECT_EQ(id, sample_cell().cell_id);
    EXPECT_EQ(stored.cell.identity, sample_cell().identity);
    EXPECT_EQ(cell_id(stored.cell.identity, {}), cell_id(sample_cell().identity, {}));
    EXPECT_TRUE(stored.cell.result.samples_ns.empty());
    ASSERT_EQ(results.launches.size(), 1U);
    EXPECT_EQ(results.launches[0].launch_id, stored.launch_id);
}

TEST_F(FinishedInFile, HaveTheFiguresOfDerivedLinesBelowThem) {
    auto const derived = [](double value) {
        Derived const figures{sample_launch().launch_id, sample_cell().cell_id, {{"interference", value}}};
        return to_json_line(figures) + "\n";
    };
    Record failed = sample_cell();
    failed.result.status = record::Status::failed;
    auto const figures_of = [](Record const& cell) { return cell.statistics.find("interference")->second; };
    auto const of_cell = [&](std::string const& content) -> Record {
        return finished(content).cells.begin()->second.cell;
    };
    std::string const measured = launch_line() + cell_line(sample_cell());
    std::string const once = measured + cell_line(failed) + derived(1.25) + end_line();
    ResultFile const results = read(once);
    EXPECT_DOUBLE_EQ(figures_of(results.cells.at(0).cell), 1.25) << "the last ok cell of their id above";
    EXPECT_FALSE(results.cells.at(1).cell.statistics.contains("interference"));
    EXPECT_DOUBLE_EQ(figures_of(of_cell(once)), 1.25);
    std::string const twice = measured + derived(1.25) + derived(1.5);
    EXPECT_DOUBLE_EQ(figures_of(of_cell(twice)), 1.5);
    EXPECT_DOUBLE_EQ(figures_of(read(twice).cells.at(0).cell), 1.5);
    EXPECT_FALSE(of_cell(measured + derived(1.25) + cell_line(sample_cell())).statistics.contains("interference"))
        << "it is measured again, and nothing is known of it";
}

TEST_F(FinishedInFile, AreNotUndoneByALaterFailureAndAreDoneByALaterSuccess) {
    Record failed = sample_cell();
    failed.result.status = record::Status::failed;
    EXPECT_EQ(finished(launch_line() + cell_line(sample_cell()) + cell_line(failed)).cells.size(), 1U);
    EXPECT_EQ(finished(launch_line() + cell_line(failed) + cell_line(sample_cell())).cells.size(), 1U);
}

TEST_F(FinishedInFile, AreNoneWhereThereIsNoFile) {
    EXPECT_TRUE(finished_cells(file, "").cells.empty());
    EXPECT_THROW((void)finished_cells(folder / ".", ""), UsageError) << "a folder";
}

}  // namespace
}  // namespace dlmb::record
