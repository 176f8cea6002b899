// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Our own layout: one row per cell, then one per phase where there are several.
#include "common/app/overlap.hpp"
#include "common/app/tables/layouts.hpp"

#include <fmt/format.h>

namespace dlmb::app {
namespace {

class OwnTable final : public Table {
public:
    [[nodiscard]] std::string header(record::Launch const& launch, std::string_view pattern) const override {
        return preamble(launch, pattern) +
               "# time: over all ranks per iteration, median with its 95 % interval; bandwidth in 10^9 B/s\n" +
               fmt::format("{:<36} {:<10} {:<14} {:<6} {:<14} {:>13} {:>13} {:>13} {:>13} {:>9} {:>7} {:>9} {:>5}\n",
                           "# traffic", "backend", "method", "memory", "phase", "median [us]", "low [us]", "high [us]",
                           "p95 [us]", "busbw", "samples", "bytes", "check");
    }

    [[nodiscard]] std::string row(record::Record const& cell, std::string_view title) override {
        if (cell.result.status != measure::Status::ok) {
            return note(cell, title);
        }
        std::string text =
            line(cell, title, "all", cell.result.time, cell.traffic) + overlap_line(cell) + throttled_line(cell);
        if (cell.result.phases.size() < 2) {
            return text;
        }
        for (measure::PhaseResult const& phase : cell.result.phases) {
            for (record::PhaseTraffic const& traffic : cell.phases) {
                if (traffic.label == phase.label) {
                    text += line(cell, title, phase.label, phase.time, traffic.traffic);
                }
            }
        }
        return text;
    }

private:
    static std::string throttled_line(record::Record const& cell) {
        return cell.result.throttled.value_or(false)
                   ? "# the clocks of a GPU were held down meanwhile, for its power or temperature\n"
                   : "";
    }
    static std::string line(record::Record const& cell, std::string_view title, std::string_view phase,
                            measure::TimeSummary const& time, TrafficSummary const& traffic) {
        bool const shares = cell.statistics.count("unchecked_steps") > 0;
        char const* const passed = shares ? "part" : "ok";
        char const* const check = cell.result.validation.verdict == measure::Verdict::passed ? passed : "off";
        return fmt::format("{:<36} {:<10} {:<14} {:<6} {:<14} {:>13} {:>13} {:>13} {:>13} {:>9.3f} {:>7} {:>9} {:>5}\n",
                           title, cell.identity.backend, cell.identity.method, cell.identity.memory, phase,
                           human_us(time.median), human_us(time.median_low), human_us(time.median_high),
                           human_us(time.p95), bandwidth(traffic, time.median).busbw_GBps, time.samples,
                           human_bytes(traffic.busiest_rank_bytes), check);
    }
};

}  // namespace

std::unique_ptr<Table> make_own_table() {
    return std::make_unique<OwnTable>();
}

}  // namespace dlmb::app
