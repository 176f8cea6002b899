// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/app/tables/table.hpp"

#include "common/app/launch_calibration.hpp"
#include "common/app/overlap.hpp"
#include "common/app/sweep.hpp"
#include "common/base/units.hpp"
#include "common/plan/plan.hpp"

#include <fmt/core.h>
#include <fmt/format.h>

#include <optional>
#include <string_view>

namespace dlmb::app {
namespace {

/// The first line: program, ranks, launch.
std::string preamble(record::Launch const& launch, std::string_view pattern) {
    return fmt::format("# {} {}: {} ranks, {} per node; launch {}\n", launch.program, pattern, launch.world.ranks,
                       launch.world.ranks_per_node, launch.launch_id) +
           calibration_line(launch.calibration);
}

/// A cell without a time: its status and reason, as a comment.
std::string note(record::Record const& cell, std::string_view title) {
    return fmt::format("# {} {} {} {}: {}: {}\n", title, cell.identity.backend, cell.identity.method,
                       cell.identity.memory, measure::name_of(cell.result.status), cell.result.reason);
}

/// Nothing where the pattern has no parameter of that name.
std::optional<std::string> parameter(record::Record const& cell, std::string_view name) {
    auto const found = cell.identity.parameters.find(std::string(name));
    return found == cell.identity.parameters.end() ? std::nullopt : std::optional(found->second);
}

/// The message size as -m counts it.
std::optional<Bytes> message_size(record::Record const& cell) {
    auto const text = parameter(cell, "message-size");
    return text ? std::optional(parse_bytes(*text, "message-size")) : std::nullopt;
}

/// Rows that differ only in their message size stand under one comment: what they have in common.
class Series {
public:
    /// "# operation=allreduce mpi/default host" when this cell opens another series than the one before, else empty.
    std::string heading(record::Record const& cell, std::string_view title) {
        if (auto const size = message_size(cell); size && title.ends_with(exact_size(*size))) {
            title.remove_suffix(exact_size(*size).size());
            title = title.substr(0, title.find_last_not_of(' ') + 1);
        }
        std::string text = fmt::format("# {}{}{}/{} {}\n", title, title.empty() ? "" : " ", cell.identity.backend,
                                       cell.identity.method, cell.identity.memory);
        if (text == last_) {
            return "";
        }
        last_ = text;
        return text;
    }

private:
    std::string last_;
};

/// Our own layout: one row per cell, then one per phase where there are several.
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

/// The columns of OSU Micro-Benchmarks 7 with full statistics (-f): size left in 10, times right in 20 with two
/// decimals, iterations in 12. Average and extremes are over iterations, each over all ranks (OSU averages ranks).
class OsuTable final : public Table {
public:
    [[nodiscard]] std::string header(record::Launch const& launch, std::string_view pattern) const override {
        return preamble(launch, pattern) + fmt::format("{:<10}{:>20}{:>20}{:>20}{:>12}\n", "# Size", "Avg Latency(us)",
                                                       "Min Latency(us)", "Max Latency(us)", "Iterations");
    }

    /// The size is the message size; of traffic that has none, the busiest rank's bytes.
    [[nodiscard]] std::string row(record::Record const& cell, std::string_view title) override {
        if (cell.result.status != measure::Status::ok) {
            return note(cell, title);
        }
        measure::TimeSummary const& time = cell.result.time;
        auto const us = [](double nanoseconds) { return nanoseconds / nanoseconds_per_microsecond; };
        return series_.heading(cell, title) + fmt::format("{:<10}{:>20.2f}{:>20.2f}{:>20.2f}{:>12}\n",
                                                          message_size(cell).value_or(cell.traffic.busiest_rank_bytes),
                                                          us(time.mean), us(time.min), us(time.max), time.samples);
    }

private:
    Series series_;
};

/// Four significant digits, as nccl-tests prints times.
std::string time_text(double us) {
    constexpr double no_decimals_from = 10000;
    constexpr double one_decimal_from = 100;
    return fmt::format("{:.{}f}", us, us >= no_decimals_from ? 0 : us >= one_decimal_from ? 1 : 2);
}

/// Elements of the count argument of NCCL's call.
std::string count_text(record::Record const& cell, std::string_view operation) {
    auto const element = element_named(parameter(cell, "element").value_or("byte"));
    if (!element) {
        return "N/A";
    }
    Bytes const bytes = operation.starts_with("reduce_scatter")
                            ? cell.traffic.largest_total_bytes / static_cast<Bytes>(cell.identity.world.ranks)
                            : message_size(cell).value_or(cell.traffic.largest_total_bytes);
    return fmt::format("{}", bytes / size_of(*element));
}

/// The columns of nccl-tests 2.19 (src/common.cu): size and count of the buffer, type, redop, root, then time, algbw,
/// busbw and #wrong out of place and in place; N/A in the half that was not measured. Time is the median. Then the two
/// lines that scripts look for.
class NcclTable final : public Table {
public:
    [[nodiscard]] std::string header(record::Launch const& launch, std::string_view pattern) const override {
        constexpr char const* names = "# {:>10}  {:>12}  {:>8}  {:>6}  {:>6}  {:>7}  {:>6}  {:>6} {:>6}  {:>7}  {:>6}  "
                                      "{:>6} {:>6}\n";
        return preamble(launch, pattern) +
               fmt::format("# {:>50}           out-of-place                       in-place\n", "") +
               fmt::format(names, "size", "count", "type", "redop", "root", "time", "algbw", "busbw", "#wrong", "time",
                           "algbw", "busbw", "#wrong") +
               fmt::format(names, "(B)", "(elements)", "", "", "", "(us)", "(GB/s)", "(GB/s)", "", "(us)", "(GB/s)",
                           "(GB/s)", "");
    }

    [[nodiscard]] std::string row(record::Record const& cell, std::string_view title) override {
        if (cell.result.status != measure::Status::ok) {
            invalid_ += cell.result.status == measure::Status::invalid ? 1 : 0;
            return note(cell, title);
        }
        ++rows_;
        busbw_sum_GBps_ += bandwidth(cell.traffic, cell.result.time.median).busbw_GBps;
        std::string const operation = parameter(cell, "operation").value_or("");
        bool const reduces = operation == "allreduce" || operation.starts_with("reduce");
        bool const rooted = operation == "broadcast" || operation == "reduce" || operation.starts_with("gather") ||
                            operation.starts_with("scatter");
        bool const in_place = parameter(cell, "in-place").value_or("off") == "on";
        std::string const figures = half(cell);
        std::string const none = fmt::format("  {:>7}  {:>6}  {:>6} {:>6}", "N/A", "N/A", "N/A", "N/A");
        return series_.heading(cell, title) +
               fmt::format("{:>12}  {:>12}  {:>8}  {:>6}  {:>6}{}{}\n", cell.traffic.largest_total_bytes,
                           count_text(cell, operation), parameter(cell, "element").value_or("byte"),
                           reduces ? parameter(cell, "reduction").value_or("none") : "none",
                           rooted ? parameter(cell, "root").value_or("-1") : "-1", in_place ? none : figures,
                           in_place ? figures : none);
    }

    [[nodiscard]] std::string footer() const override {
        if (rows_ + invalid_ == 0) {
            return "";
        }
        return fmt::format("# Out of bounds values : {} {}\n# Avg bus bandwidth    : {:g}\n#\n", invalid_,
                           invalid_ == 0 ? "OK" : "FAILED", rows_ == 0 ? 0 : busbw_sum_GBps_ / rows_);
    }

private:
    static std::string half(record::Record const& cell) {
        Bandwidth const rate = bandwidth(cell.traffic, cell.result.time.median);
        char const* const wrong = cell.result.validation.verdict == measure::Verdict::passed ? "0" : "N/A";
        return fmt::format("  {:>7}  {:>6.2f}  {:>6.2f} {:>6}",
                           time_text(cell.result.time.median / nanoseconds_per_microsecond), rate.algbw_GBps,
                           rate.busbw_GBps, wrong);
    }

    Series series_;
    int rows_ = 0;
    int invalid_ = 0;  // cells whose payload was wrong
    double busbw_sum_GBps_ = 0;
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

std::string figure_of_merit(record::Record const& cell) {
    if (cell.result.status != measure::Status::ok) {
        return "";
    }
    return fmt::format("DLMB-FOM {} median {:.3f} us\n", cell.cell_id,
                       cell.result.time.median / nanoseconds_per_microsecond);
}

}  // namespace dlmb::app
