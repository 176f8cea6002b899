// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// dlmb_predict guidelines RESULTS...: which measured collectives are slower than other calls that do the same.
#include "common/tools/predict/guidelines.hpp"

#include "common/base/command_line/exit_codes.hpp"
#include "common/base/command_line/number_checks.hpp"
#include "common/base/command_line/subcommands.hpp"
#include "common/base/output_file.hpp"
#include "common/base/units.hpp"
#include "common/tools/predict/commands/run_predict.hpp"
#include "common/tools/predict/commands/timed_calls.hpp"

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include <algorithm>

namespace dlmb::predict::commands {
namespace {

using namespace dlmb::predict;

constexpr int exit_violations = exit_cell_failed;  // measured calls break a guideline

nlohmann::ordered_json range_json(TimeRange const& range) {
    nlohmann::ordered_json json{{"time", range.time}};
    json["interval"] = nullptr;
    if (range.has_interval) {
        json["interval"] = {range.low, range.high};
    }
    return json;
}

class Guidelines {
public:
    void add_options(CLI::App& parser) {
        parser
            .add_option(
                "RESULTS", paths_,
                "result files of dlmb_collective or dlmb_convert, or tables with the columns of the data of PICO")
            ->required();
        parser
            .add_option("--min-excess", least_excess_percent_,
                        "slower by at least so many percent, whatever the intervals leave open")
            ->check(number_check(0, 1e6))
            ->capture_default_str();
        parser.add_flag("--json", json_, "print one JSON object");
    }

    int run() {
        TimedCalls const read = read_timed_calls(paths_);
        for (std::string const& remark : read.remarks) {
            print_error(fmt::format("dlmb_predict: {}\n", remark));
        }
        GuidelineCheck const found = check_guidelines(read.calls, least_excess_percent_ / 100);
        std::size_t sure = 0;
        for (Violation const& violation : found.violations) {
            sure += violation.has_interval() ? 1U : 0U;
        }
        if (json_) {
            print_json(read, found);
        } else {
            print_text(read, found, sure);
        }
        if (found.checks == 0) {
            print_error("dlmb_predict: error: no two of these measurements are of one setting and can be compared; "
                        "measure several sizes, or several operations, in one launch\n");
            return exit_unavailable;
        }
        return sure > 0 ? exit_violations : exit_ok;
    }

private:
    void print_text(TimedCalls const& read, GuidelineCheck const& found, std::size_t sure) const {
        fmt::print(
            "{} measurements of {} calls, {} left out; {} comparisons; {} violations above {} %, of which {} have "
            "intervals\n",
            read.used, read.calls.size(), read.left_out, found.checks, found.violations.size(), least_excess_percent_,
            sure);
        std::vector<std::string> settings;  // in the order of their worst violation
        for (Violation const& violation : found.violations) {
            if (std::find(settings.begin(), settings.end(), violation.setting) == settings.end()) {
                settings.push_back(violation.setting);
            }
        }
        for (std::string const& setting : settings) {
            fmt::print("\n{}\n", setting);
            for (Violation const& violation : found.violations) {
                if (violation.setting == setting) {
                    print(violation);
                }
            }
        }
    }

    static void print(Violation const& violation) {
        std::string const range =
            violation.has_interval()
                ? fmt::format("[{:.0f}, {:.0f}]", 100 * violation.excess_low(), 100 * violation.excess_high())
                : "[not known]";
        fmt::print("  {:<46} {:>8}  {:>12.3f} us against {:>12.3f} us ({})  slower by {:.0f} % {}\n",
                   violation.guideline, human_bytes(violation.bytes), violation.us.time, violation.mock_us.time,
                   human_bytes(violation.mock_bytes), 100 * violation.excess(), range);
    }

    void print_json(TimedCalls const& read, GuidelineCheck const& found) const {
        nlohmann::ordered_json json{{"schema", "dlmb.guidelines/1.0"},
                                    {"measurements", read.used},
                                    {"left_out", read.left_out},
                                    {"comparisons", found.checks},
                                    {"min_excess", least_excess_percent_ / 100},
                                    {"violations", nlohmann::ordered_json::array()}};
        for (Violation const& violation : found.violations) {
            nlohmann::ordered_json line{{"guideline", violation.guideline},
                                        {"setting", violation.setting},
                                        {"collective", name_of(violation.collective)},
                                        {"bytes", violation.bytes},
                                        {"mock_bytes", violation.mock_bytes},
                                        {"us", range_json(violation.us)},
                                        {"mock_us", range_json(violation.mock_us)},
                                        {"excess", violation.excess()}};
            line["excess_interval"] = nullptr;
            if (violation.has_interval()) {
                line["excess_interval"] = {violation.excess_low(), violation.excess_high()};
            }
            json["violations"].push_back(std::move(line));
        }
        fmt::print("{}\n", json.dump(2));
    }

    std::vector<std::string> paths_;
    double least_excess_percent_ = 5;
    bool json_ = false;
};

}  // namespace

void add_guidelines(CLI::App& program, int& exit_code) {
    add_command<Guidelines>(program, "guidelines", "Find measured collectives that other calls would be faster than",
                            exit_code);
}

}  // namespace dlmb::predict::commands
