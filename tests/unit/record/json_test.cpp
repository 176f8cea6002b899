// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/formats/record/json.hpp"
#include "tests/unit/record/sample_records.hpp"
#include "tests/unit/usage_error_of.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <clocale>
#include <limits>
#include <locale>

namespace dlmb::record {
namespace {

using testing::HasSubstr;

Json parsed(std::string const& line) {
    return Json::parse(line);
}

TEST(Json, ALaunchSurvivesTheRoundTrip) {
    for (Launch const& launch : {sample_launch(), sample_gpu_launch()}) {
        std::string const line = to_json_line(launch);
        EXPECT_EQ(to_json_line(launch_from(parsed(line))), line);
        EXPECT_EQ(launch_from(parsed(line)).environment, launch.environment);
    }
}

TEST(Json, ALaunchOnATestDoubleSaysSo) {
    Launch launch = sample_gpu_launch();
    EXPECT_FALSE(parsed(to_json_line(launch)).at("test_double").get<bool>());
    launch.environment.identity["gpus"] = "DLMB test double 0, compute capability 9.0, 4096 B, 2 per node";
    EXPECT_TRUE(parsed(to_json_line(launch)).at("test_double").get<bool>());
}

TEST(Json, EveryKindOfCellSurvivesTheRoundTrip) {
    Record beside_a_load = sample_cell();
    beside_a_load.identity.beside = "traffic:moe.jsonl@0123";
    for (Record const& cell : {sample_cell(), beside_a_load, sample_skipped_cell(), sample_invalid_cell()}) {
        std::string const line = to_json_line("id", cell);
        Record const again = record_from(parsed(line));
        EXPECT_EQ(to_json_line("id", again), line);
        EXPECT_EQ(again.identity, cell.identity);
        EXPECT_EQ(cell_id(again.identity, {}), cell_id(cell.identity, {}));
        EXPECT_EQ(again.result.samples_ns, cell.result.samples_ns);
    }
}

// A reader takes lines of 64 MiB.
TEST(Json, MillionsOfSamplesAreLeftOut) {
    Record cell = sample_cell();
    cell.result.samples_ns.assign(4'000'001, 123'456);
    std::string const line = to_json_line("id", cell);
    EXPECT_LT(line.size(), 100'000U);
    EXPECT_TRUE(parsed(line).at("samples_left_out").get<bool>());
    EXPECT_TRUE(record_from(parsed(line)).result.samples_ns.empty());
    EXPECT_FALSE(parsed(to_json_line("id", sample_cell())).contains("samples_left_out"));
}

TEST(Json, WhatFewCellsHaveSurvivesTheRoundTripAndOthersSayNothingOfIt) {
    Json const plain = parsed(to_json_line("id", sample_cell()));
    EXPECT_FALSE(plain.contains("dropped") || plain.contains("throttled"));
    EXPECT_TRUE(plain.at("time_ns").at("p99").is_null());
    EXPECT_EQ(plain.at("time_ns").at("axis"), "max over ranks per iteration");
    Record cell = sample_cell();
    cell.shared_gpu = true;
    cell.result.dropped = 3.125;
    cell.result.throttled = false;
    cell.result.time.p99 = 52300;
    cell.result.rank_means = record::RankMeans{1500, 1000, 2000.5};
    cell.traffic.payload_bytes = (Bytes{1} << 60) + 1;
    std::string const line = to_json_line("id", cell);
    EXPECT_EQ(parsed(line).at("time_ns").at("axis"), "mean over ranks per iteration");
    EXPECT_THAT(line, HasSubstr(R"("payload_bytes":1152921504606846977)")) << "2^60 + 1, every digit";
    Record const again = record_from(parsed(line));
    EXPECT_EQ(to_json_line("id", again), line);
    EXPECT_TRUE(again.shared_gpu);
    EXPECT_EQ(again.result.dropped, 3.125);
    EXPECT_EQ(again.result.throttled, false);
    EXPECT_EQ(again.result.cpu_quota, std::nullopt);
    EXPECT_EQ(again.result.time.p99, 52300.0);
    EXPECT_EQ(again.result.rank_means->max, 2000.5);
    EXPECT_EQ(again.traffic.payload_bytes, (Bytes{1} << 60) + 1);
}

TEST(Json, AFieldThatIsMissingOrUnknownToAListOfNamesIsNamed) {
    Json const whole = parsed(to_json_line("id", sample_cell()));
    auto const refusal = [](Json const& line) { return message_of<std::exception>([&] { (void)record_from(line); }); };
    for (char const* field : {"status", "cache", "fill", "rounds", "traffic", "time_ns", "sync", "flags"}) {
        Json line = whole;
        line.erase(field);
        EXPECT_THAT(refusal(line), HasSubstr(field));
    }
    Json line = whole;
    line["cache"]["mode"] = "cold";
    EXPECT_EQ(refusal(line), "cache.mode: 'cold' is none of rotate, warm, flush");
}

TEST(Json, DerivedFiguresSurviveTheRoundTrip) {
    Derived const derived{"id", "cell", {{"overlap_share", -0.25}, {"interference", 1.5}}};
    std::string const line = to_json_line(derived);
    EXPECT_EQ(
        line,
        R"({"kind":"derived","launch_id":"id","cell_id":"cell","statistics":{"interference":1.5,"overlap_share":-0.25}})");
    EXPECT_EQ(to_json_line(derived_from(parsed(line))), line);
}

TEST(Json, AnEndSurvivesTheRoundTrip) {
    for (End const& end : {sample_end(), End{"id", "ok", {{"skipped", 2}}}}) {
        std::string const line = to_json_line(end);
        EXPECT_EQ(to_json_line(end_from(parsed(line))), line);
    }
}

TEST(Json, ALineHasNoLineBreakWhateverTheTextsHold) {
    Record cell = sample_skipped_cell();
    cell.result.reason = "first\nsecond\r\n\t\"third\" \xFF";
    std::string const line = to_json_line("id", cell);
    EXPECT_EQ(line.find_first_of("\n\r"), std::string::npos);
    EXPECT_EQ(parsed(line).at("reason").get<std::string>().substr(0, 12), "first\nsecond");
}

TEST(Json, RatesAreBytesPerNanosecond) {
    Json const line = parsed(to_json_line("id", sample_cell()));
    // Median of the eight samples: (41010 + 41120) / 2. Busiest rank of both phases together, self left out, in rows of
    // 4096 B: rank 0 sends 24 + 31 = 55; busbw = 55 x 4096 / 41065.
    EXPECT_DOUBLE_EQ(line.at("time_ns").at("median").get<double>(), 41065.0);
    EXPECT_EQ(line.at("traffic").at("busiest_rank_bytes").get<std::uint64_t>(), 55U * 4096U);
    EXPECT_DOUBLE_EQ(line.at("bandwidth").at("busbw_GBps").get<double>(), 55.0 * 4096 / 41065);
    // Dispatch alone: rank 0 receives 12 + 10 + 9 = 31 rows; median (21300 + 21400) / 2.
    EXPECT_DOUBLE_EQ(line.at("phases").at("dispatch").at("bandwidth").at("busbw_GBps").get<double>(),
                     31.0 * 4096 / 21350);
}

TEST(Json, ACellThatIsNotOkHasNoTimesAndNoRates) {
    for (Record cell : {sample_skipped_cell(), sample_invalid_cell()}) {
        cell.result.time = sample_cell().result.time;  // left over from before the check failed
        cell.result.samples_ns = {1, 2, 3};
        cell.result.phases = sample_cell().result.phases;
        Json const line = parsed(to_json_line("id", cell));
        EXPECT_TRUE(line.at("time_ns").is_null());
        EXPECT_TRUE(line.at("samples_ns").empty());
        EXPECT_TRUE(line.at("bandwidth").is_null());
        EXPECT_TRUE(line.at("setup_ns").is_null());
        EXPECT_FALSE(line.at("phases").at("dispatch").contains("median"));
        EXPECT_GT(line.at("phases").at("dispatch").at("traffic").at("wire_bytes"), 0);
    }
}

TEST(Json, AWorldOfOneRankHasNoBusBandwidth) {
    Record cell = sample_cell();
    RankTraffic alone;
    alone.payload = alone.send_total = alone.recv_total = alone.self = 4096;
    cell.traffic = summarize(std::vector{alone});
    Json const rates = parsed(to_json_line("id", cell)).at("bandwidth");
    EXPECT_TRUE(rates.at("busbw_GBps").is_null());
    EXPECT_GT(rates.at("algbw_GBps"), 0);
}

TEST(Json, ATimeThatIsNoNumberIsAnErrorThatNamesTheField) {
    Record cell = sample_cell();
    cell.result.time.mean = std::numeric_limits<double>::quiet_NaN();
    EXPECT_THAT(message_of<Error>([&] { (void)to_json_line("id", cell); }), HasSubstr("mean"));
}

TEST(Json, AStatisticWithoutAFiniteValueIsLeftOut) {
    Record cell = sample_cell();
    cell.statistics["empty"] = std::numeric_limits<double>::infinity();
    Json const statistics = parsed(to_json_line("id", cell)).at("statistics");
    EXPECT_FALSE(statistics.contains("empty"));
    EXPECT_TRUE(statistics.contains("gini_rank"));
}

TEST(Json, ParametersAreNumbersOnlyWhereTheTextComesBackUnchanged) {
    for (char const* number : {"0", "7168", "-3", "0.5", "1.25", "18446744073709551615"}) {
        EXPECT_TRUE(parameter_json(number).is_number()) << number;
        EXPECT_EQ(parameter_text(parameter_json(number)), number);
    }
    for (char const* text :
         {"", "-", "1.50", "007", "1e3", "4K", "lognormal:0.3", "1-2", "nan", "99999999999999999999"}) {
        EXPECT_TRUE(parameter_json(text).is_string()) << text;
        EXPECT_EQ(parameter_text(parameter_json(text)), text);
    }
}

struct CommaPunctuation : std::numpunct<char> {
    [[nodiscard]] char do_decimal_point() const override { return ','; }
    [[nodiscard]] char do_thousands_sep() const override { return '.'; }
    [[nodiscard]] std::string do_grouping() const override { return "\3"; }
};

/// Switches to a locale with a decimal comma: the C++ one always, the C one where the machine has it.
class CommaLocale {
public:
    CommaLocale() : before_(std::locale::global(std::locale(std::locale::classic(), new CommaPunctuation))) {
        for (char const* name : {"de_DE.UTF-8", "de_DE.utf8", "de_DE", "fr_FR.UTF-8"}) {
            if (std::setlocale(LC_NUMERIC, name) != nullptr) {
                break;
            }
        }
    }
    CommaLocale(CommaLocale const&) = delete;
    CommaLocale& operator=(CommaLocale const&) = delete;
    CommaLocale(CommaLocale&&) = delete;
    CommaLocale& operator=(CommaLocale&&) = delete;
    ~CommaLocale() {
        std::locale::global(before_);
        std::setlocale(LC_NUMERIC, "C");
    }

private:
    std::locale before_;
};

TEST(Json, NumbersHaveAPointInALocaleWithADecimalComma) {
    std::string const cell_line = to_json_line("id", sample_cell());
    std::string const document = plan_lines(sample_plan_header(), sample_plans());
    CommaLocale const comma;
    EXPECT_EQ(to_json_line("id", sample_cell()), cell_line);
    EXPECT_EQ(plan_lines(sample_plan_header(), sample_plans()), document);
    EXPECT_DOUBLE_EQ(record_from(parsed(cell_line)).traffic.imbalance_recv, sample_cell().traffic.imbalance_recv);
}

}  // namespace
}  // namespace dlmb::record
