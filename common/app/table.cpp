// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/app/table.hpp"

#include <fmt/format.h>

namespace dlmb::app {
namespace {

constexpr double nanoseconds_per_microsecond = 1000;

std::string preamble(record::Launch const& launch, std::string_view pattern) {
    return fmt::format("# {} {}: {} ranks, {} per node; launch {}\n", launch.program, pattern, launch.world.ranks,
                       launch.world.ranks_per_node, launch.launch_id);
}

std::string note(record::Cell const& cell, std::string_view title) {
    return fmt::format("# {} {} {} {}: {}: {}\n", title, cell.identity.backend, cell.identity.method,
                       cell.identity.memory, measure::name_of(cell.result.status), cell.result.reason);
}

/// One row per cell, then one per phase.
class OwnTable final : public Table {
public:
    [[nodiscard]] std::string header(record::Launch const& launch, std::string_view pattern) const override {
        return preamble(launch, pattern) +
               "# time: max over ranks per iteration, median with its 95 % interval; bandwidth in 10^9 B/s\n" +
               fmt::format("{:<36} {:<10} {:<14} {:<6} {:<14} {:>13} {:>13} {:>13} {:>13} {:>9} {:>7} {:>9} {:>5}\n",
                           "# traffic", "backend", "method", "memory", "phase", "median [us]", "low [us]", "high [us]",
                           "p95 [us]", "busbw", "samples", "bytes", "check");
    }

    [[nodiscard]] std::string row(record::Cell const& cell, std::string_view title) const override {
        if (cell.result.status != measure::Status::ok) {
            return note(cell, title);
        }
        std::string text = line(cell, title, "all", cell.result.time, cell.traffic);
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
    static std::string line(record::Cell const& cell, std::string_view title, std::string_view phase,
                            measure::TimeSummary const& time, TrafficSummary const& traffic) {
        char const* const check = cell.result.validation.verdict == measure::Verdict::passed ? "ok" : "off";
        return fmt::format("{:<36} {:<10} {:<14} {:<6} {:<14} {:>13} {:>13} {:>13} {:>13} {:>9.3f} {:>7} {:>9} {:>5}\n",
                           title, cell.identity.backend, cell.identity.method, cell.identity.memory, phase,
                           human_us(time.median), human_us(time.median_low), human_us(time.median_high),
                           human_us(time.p95), bandwidth(traffic, time.median).busbw_GBps, time.samples,
                           human_bytes(traffic.busiest_rank_bytes), check);
    }
};

/// Size first, value second, as scripts for OSU Micro-Benchmarks expect. Average and extremes are over iterations, each
/// the max over ranks.
class OsuTable final : public Table {
public:
    [[nodiscard]] std::string header(record::Launch const& launch, std::string_view pattern) const override {
        return preamble(launch, pattern) + fmt::format("{:<20} {:>16} {:>16} {:>16} {:>12}\n", "# Size",
                                                       "Avg Latency(us)", "Min Latency(us)", "Max Latency(us)",
                                                       "Iterations");
    }
    [[nodiscard]] std::string row(record::Cell const& cell, std::string_view title) const override {
        if (cell.result.status != measure::Status::ok) {
            return note(cell, title);
        }
        measure::TimeSummary const& time = cell.result.time;
        return fmt::format("# {} {} {} {}\n{:<20} {:>16} {:>16} {:>16} {:>12}\n", title, cell.identity.backend,
                           cell.identity.method, cell.identity.memory, cell.traffic.busiest_rank_bytes,
                           human_us(time.mean), human_us(time.min), human_us(time.max), time.samples);
    }
};

/// nccl-tests' columns: size is what one rank's largest buffer holds, #wrong comes from the payload check.
class NcclTable final : public Table {
public:
    [[nodiscard]] std::string header(record::Launch const& launch, std::string_view pattern) const override {
        return preamble(launch, pattern) +
               fmt::format("# {:>14} {:>16} {:>12} {:>10} {:>10} {:>8}\n# {:>14} {:>16} {:>12} {:>10} {:>10} {:>8}\n",
                           "size", "backend", "time", "algbw", "busbw", "#wrong", "(B)", "", "(us)", "(GB/s)", "(GB/s)",
                           "");
    }
    [[nodiscard]] std::string row(record::Cell const& cell, std::string_view title) const override {
        if (cell.result.status != measure::Status::ok) {
            return note(cell, title);
        }
        Bandwidth const rate = bandwidth(cell.traffic, cell.result.time.median);
        char const* const wrong = cell.result.validation.verdict == measure::Verdict::passed ? "0" : "N/A";
        return fmt::format("# {}\n  {:>14} {:>16} {:>12} {:>10.2f} {:>10.2f} {:>8}\n", title,
                           cell.traffic.largest_total_bytes, cell.identity.backend + "/" + cell.identity.method,
                           human_us(cell.result.time.median), rate.algbw_GBps, rate.busbw_GBps, wrong);
    }
};

}  // namespace

std::unique_ptr<Table> make_table(Layout layout) {
    switch (layout) {
    case Layout::osu:
        return std::make_unique<OsuTable>();
    case Layout::nccl:
        return std::make_unique<NcclTable>();
    case Layout::dlmb:
        break;
    }
    return std::make_unique<OwnTable>();
}

std::string figure_of_merit(record::Cell const& cell) {
    if (cell.result.status != measure::Status::ok) {
        return "";
    }
    return fmt::format("DLMB-FOM {} median {:.3f} us\n", cell.cell_id,
                       cell.result.time.median / nanoseconds_per_microsecond);
}

}  // namespace dlmb::app
