// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/app/tables/table.hpp"

#include "common/app/derived_figures.hpp"
#include "common/app/launch_calibration.hpp"
#include "common/app/sweep.hpp"
#include "common/app/tables/osu_columns.hpp"
#include "common/base/units.hpp"
#include "common/measure/statistics/order_statistics.hpp"
#include "common/plan/plan.hpp"

#include <fmt/core.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace dlmb::app {
namespace {

/// The first line: program, ranks, launch.
std::string preamble(record::Launch const& launch, std::string_view pattern) {
    return fmt::format("# {} {}: {} ranks, {} per node; launch {}\n", launch.program, pattern, launch.world.ranks,
                       launch.world.ranks_per_node, launch.launch_id) +
           calibration_line(launch.calibration);
}

/// A cell without a time: its status and reason, as a comment.
std::string note(record::Record const& cell, std::string_view title, std::optional<Bytes> size = std::nullopt) {
    return fmt::format("# {}{} {} {} {}: {}: {}\n", title, size ? " " + exact_size(*size) : "", cell.identity.backend,
                       cell.identity.method, cell.identity.memory, measure::name_of(cell.result.status),
                       cell.result.reason);
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

/// Layouts of the suites: cells that differ only in their message size are one table, by rising size. Cells take turns,
/// so the rows of other backends and methods wait until the sizes of the first are through.
class TableOfSeries : public Table {
public:
    [[nodiscard]] std::string header(record::Launch const& launch, std::string_view pattern) const final {
        return preamble(launch, pattern);
    }
    void add(record::Record const& cell, std::string_view title) final {
        auto const size = message_size(cell);
        if (size && title.ends_with(exact_size(*size))) {
            title.remove_suffix(exact_size(*size).size());
            title = title.substr(0, title.find_last_not_of(' ') + 1);
        }
        last_title_ = name_of_series(title);
        std::string heading =
            fmt::format("# {}{}{}/{} {}{}\n", last_title_, last_title_.empty() ? "" : " ", cell.identity.backend,
                        cell.identity.method, cell.identity.memory, definition(cell));
        auto found =
            std::find_if(series_.begin(), series_.end(), [&](Series const& each) { return each.heading == heading; });
        if (found == series_.end()) {
            found = series_.insert(found, {last_title_, std::move(heading), "", {}, ""});
        }
        if (cell.result.status == measure::Status::ok) {
            found->columns = found->columns.empty() ? columns(cell) : found->columns;
            take(found->rows, size.value_or(0), row(cell));
        } else {
            found->notes += note(cell, title, size);
            failed(cell);
        }
    }
    /// The first series of a title goes on; those of the titles before are complete.
    [[nodiscard]] std::string ready() final {
        std::string text;
        bool first = true;
        for (Series& each : series_) {
            bool const goes_on = each.title == last_title_;
            if (!goes_on || first) {
                text += print(each, goes_on);
            }
            first = first && !goes_on;
        }
        return text;
    }
    [[nodiscard]] std::string footer() final {
        std::string text;
        for (Series& each : series_) {
            text += print(each, false);
        }
        return text + totals();
    }

protected:
    /// Out of place and in place are one row of nccl-tests; rows of OSU are words alone.
    struct Row {
        std::string words;
        std::string figures = {};
        std::string in_place = {};
        bool waits = false;  // for its other half
    };

    /// Of the series that the cell, which is ok, begins.
    [[nodiscard]] virtual std::string columns(record::Record const& cell) const = 0;
    /// Of a cell that is ok.
    [[nodiscard]] virtual Row row(record::Record const& cell) = 0;
    [[nodiscard]] virtual std::string line(Row const& row) const { return row.words + '\n'; }
    [[nodiscard]] virtual std::string name_of_series(std::string_view title) const { return std::string(title); }
    /// Behind the heading: what the times of the series are.
    [[nodiscard]] virtual std::string definition(record::Record const& /*cell*/) const { return ""; }
    virtual void failed(record::Record const& /*cell*/) {}
    [[nodiscard]] virtual std::string totals() const { return ""; }

private:
    using Rows = std::multimap<Bytes, Row>;
    struct Series {
        std::string title;  // without size
        std::string heading;
        std::string columns;
        Rows rows;  // that are not printed yet
        std::string notes;
    };

    static void take(Rows& rows, Bytes size, Row half) {
        auto const [begin, end] = rows.equal_range(size);
        auto const other = std::find_if(begin, end, [&](Rows::value_type const& entry) {
            return entry.second.words == half.words && entry.second.figures.empty() != half.figures.empty();
        });
        if (other == end) {
            rows.emplace(size, std::move(half));
            return;
        }
        other->second.figures += half.figures;
        other->second.in_place += half.in_place;
        other->second.waits = false;
    }

    std::string print(Series& series, bool goes_on) {
        std::string text = std::exchange(series.notes, "");
        std::string lines;
        for (auto at = series.rows.begin(); at != series.rows.end();) {
            bool const stays = goes_on && at->second.waits;
            lines += stays ? "" : line(at->second);
            at = stays ? std::next(at) : series.rows.erase(at);
        }
        if (!lines.empty() && open_ != series.heading) {
            open_ = series.heading;
            text += series.heading + series.columns;
        }
        return text + lines;
    }

    std::vector<Series> series_;  // in the order in which they began
    std::string last_title_;
    std::string open_;  // the heading that rows stand under
};

/// Our own layout: one row per cell, then one per phase where there are several. Widths follow from the content, and
/// what does not fit on a line of a usual terminal is left out or, if it is a label, stands on a line of its own.
class OwnTable final : public Table {
public:
    explicit OwnTable(Columns columns) : columns_(columns) {}

    [[nodiscard]] std::string header(record::Launch const& launch, std::string_view pattern) const override {
        return preamble(launch, pattern) +
               "# time: over all ranks per iteration, median with its 95 % interval; bandwidth in 10^9 B/s\n";
    }

    void expect(SweepPoint const& point) override { widths_[traffic] = std::max(widths_[traffic], point.title.size()); }

    void add(record::Record const& cell, std::string_view title) override {
        if (cell.result.status != measure::Status::ok) {
            lines_.push_back({{}, note(cell, title)});
            return;
        }
        add_line(cell, title, "all", cell.result.time, cell.traffic);
        lines_.back().comment = overlap_line(cell) + interference_line(cell) + packing_line(cell) +
                                throttled_line(cell) + bit_patterns_line(cell);
        for (measure::PhaseResult const& timed : cell.result.phases) {
            for (record::PhaseTraffic const& moved : cell.phases) {
                if (moved.label == timed.label && cell.result.phases.size() > 1) {
                    add_line(cell, title, timed.label, timed.time, moved.traffic);
                }
            }
        }
    }

    [[nodiscard]] std::string ready() override {
        bool any = false;
        for (Line const& line : lines_) {
            for (std::size_t column = 0; column < line.cells.size(); ++column) {
                widths_[column] = std::max(widths_[column], line.cells[column].size());
            }
            any = any || !line.cells.empty();
            has_phases_ = has_phases_ || (!line.cells.empty() && line.cells[phase] != "all");
        }
        std::string text;
        if (any) {
            Shape const shape = shape_that_fits();
            if (shape != printed_) {
                printed_ = shape;
                std::vector<std::string> const names(std::begin(headings), std::end(headings));
                text += line_of(shape, names, "# ");
                beside_ = "";
            }
        }
        for (Line const& line : std::exchange(lines_, {})) {
            text += line.cells.empty() ? "" : beside(line.cells) + line_of(printed_, line.cells, "");
            text += line.comment;
        }
        return text;
    }

    [[nodiscard]] std::string footer() override { return ready(); }

private:
    enum Column : std::size_t {
        traffic,
        backend,
        method,
        memory,
        phase,
        median,
        low,
        high,
        p95,
        busbw,
        samples,
        bytes,
        check,
        count
    };
    static constexpr std::array<std::string_view, count> headings{
        "traffic",   "backend",  "method", "memory",  "phase", "median [us]", "low [us]",
        "high [us]", "p95 [us]", "busbw",  "samples", "bytes", "check"};

    struct Line {
        std::vector<std::string> cells;  // empty: only the comment
        std::string comment;             // whole lines behind it
    };
    struct Shape {
        std::array<std::size_t, count> widths{};  // 0: not shown
        bool operator==(Shape const&) const = default;
        [[nodiscard]] std::size_t length() const {
            return std::accumulate(
                widths.begin(), widths.end(), std::size_t{0},
                [](std::size_t sum, std::size_t width) { return sum + width + (width > 0 ? 1 : 0); });
        }
    };

    static std::string bit_patterns_line(record::Record const& cell) {
        auto const patterns = cell.result.bit_patterns;
        if (!patterns) {
            return "";
        }
        auto const stated = cell.backend_facts.find("bitwise_stable_over");
        return fmt::format("# its sums had {} in jittered iterations; stable over, by its method: {}\n",
                           *patterns == 1 ? "the same bits" : fmt::format("{} different bit patterns", *patterns),
                           stated == cell.backend_facts.end() ? "not stated" : stated->second);
    }

    static std::string throttled_line(record::Record const& cell) {
        return cell.result.throttled.value_or(false)
                   ? "# the clocks of a GPU were held down meanwhile, for its power or temperature\n"
                   : "";
    }

    void add_line(record::Record const& cell, std::string_view title, std::string_view label,
                  measure::TimeSummary const& time, TrafficSummary const& moved) {
        bool const shares = cell.statistics.count("unchecked_steps") > 0;
        char const* const passed = shares ? "part" : "ok";
        bool const checked = cell.result.validation.verdict == measure::Verdict::passed;
        lines_.push_back(
            {{std::string(title), cell.identity.backend, cell.identity.method, cell.identity.memory, std::string(label),
              human_us(time.median), human_us(time.median_low), human_us(time.median_high), human_us(time.p95),
              fmt::format("{:.3f}", bandwidth(moved, time.median).busbw_GBps), fmt::format("{}", time.samples),
              human_bytes(moved.busiest_rank_bytes), checked ? passed : "off"},
             ""});
    }

    /// Labels move to a line of their own before figures are left out, and of these samples go first.
    [[nodiscard]] Shape shape_that_fits() const {
        constexpr std::size_t line_length = 120;
        Shape shape{widths_};
        shape.widths[phase] = has_phases_ || columns_ == Columns::all ? widths_[phase] : 0;
        auto const fits = [&] {
            Shape with_mark = shape;  // the heading of the first column has "# " before it
            std::size_t const first = first_shown(shape);
            with_mark.widths[first] = std::max(with_mark.widths[first], headings[first].size() + 2);
            shape = with_mark;
            return columns_ == Columns::all || shape.length() <= line_length + 1;
        };
        Shape const everything = shape;
        for (std::size_t const labels : {std::size_t{traffic}, std::size_t{backend}, std::size_t{phase}}) {
            for (bool const with_samples : {true, false}) {
                shape = everything;
                std::fill(shape.widths.begin(), shape.widths.begin() + static_cast<std::ptrdiff_t>(labels), 0);
                shape.widths[samples] = with_samples ? everything.widths[samples] : 0;
                if (fits()) {
                    return shape;
                }
            }
        }
        for (Column const less : {bytes, p95}) {
            shape.widths[less] = 0;
        }
        return shape;
    }

    static std::size_t first_shown(Shape const& shape) {
        return static_cast<std::size_t>(
            std::find_if(shape.widths.begin(), shape.widths.end(), [](std::size_t width) { return width > 0; }) -
            shape.widths.begin());
    }

    /// "# deepseek-v3 tokens=128 mpi/alltoallv host": the labels that have no column, where they change.
    std::string beside(std::vector<std::string> const& cells) {
        std::size_t const first = first_shown(printed_);
        if (first == traffic) {
            return "";
        }
        std::string text = "# " + cells[traffic];
        if (first > backend) {
            text += fmt::format(" {}/{} {}", cells[backend], cells[method], cells[memory]);
        }
        text += '\n';
        return text == beside_ ? "" : beside_ = text;
    }

    static std::string line_of(Shape const& shape, std::vector<std::string> const& cells, std::string_view mark) {
        std::string text;
        for (std::size_t column = 0; column < cells.size(); ++column) {
            if (shape.widths[column] == 0) {
                continue;
            }
            std::string const cell = (text.empty() ? std::string(mark) : "") + cells[column];
            text += column < median ? fmt::format("{:<{}} ", cell, shape.widths[column])
                                    : fmt::format("{:>{}} ", cell, shape.widths[column]);
        }
        text.back() = '\n';
        return text;
    }

    Columns columns_;
    std::vector<Line> lines_;  // that are not printed yet
    // Times up to a second have room from the start, so that the columns of a sweep stay where they are.
    std::array<std::size_t, count> widths_{7, 7, 6, 6, 5, 11, 10, 10, 10, 7, 7, 9, 5};
    bool has_phases_ = false;
    Shape printed_;
    std::string beside_;
};

/// The columns of OSU Micro-Benchmarks 7 with full statistics (-f): size left in 10, times right in 20 with two
/// decimals, iterations in 12; then percentiles. With --timing osu and nccl average and extremes are over ranks, of
/// each rank's mean, as there; else over samples, each over all ranks.
class OsuTable final : public TableOfSeries {
public:
    explicit OsuTable(std::vector<std::uint64_t> percentiles) : percentiles_(std::move(percentiles)) {}

private:
    [[nodiscard]] std::string columns(record::Record const& cell) const override {
        if (auto const own = osu_columns(cell, 0)) {
            return own->names;
        }
        std::string text = fmt::format("{:<10}{:>20}{:>20}{:>20}{:>12}", "# Size", "Avg Latency(us)", "Min Latency(us)",
                                       "Max Latency(us)", "Iterations");
        for (std::uint64_t const percentile : percentiles_) {
            text += fmt::format("{:>20}", fmt::format("P{} Tail Lat(us)", percentile));
        }
        return text + '\n';
    }

    /// The size is the message size; of traffic that has none, the busiest rank's bytes.
    [[nodiscard]] Row row(record::Record const& cell) override {
        if (auto const own = osu_columns(cell, message_size(cell).value_or(0))) {
            return {own->values};
        }
        measure::TimeSummary const& time = cell.result.time;
        auto const shown = cell.result.rank_means.value_or(measure::RankMeans{time.mean, time.min, time.max});
        auto const us = [](double nanoseconds) { return nanoseconds / nanoseconds_per_microsecond; };
        std::string text = fmt::format("{:<10}{:>20.2f}{:>20.2f}{:>20.2f}{:>12}",
                                       message_size(cell).value_or(cell.traffic.busiest_rank_bytes), us(shown.mean),
                                       us(shown.min), us(shown.max), time.samples * cell.result.iterations_per_sample);
        std::vector<Nanoseconds> sorted = cell.result.samples_ns;
        std::sort(sorted.begin(), sorted.end());
        for (std::uint64_t const percentile : percentiles_) {
            text += sorted.empty()
                        ? fmt::format("{:>20}", "N/A")
                        : fmt::format("{:>20.2f}", us(static_cast<double>(measure::nearest_rank(sorted, percentile))));
        }
        return {text};
    }
    [[nodiscard]] std::string definition(record::Record const& cell) const override {
        return fmt::format(", --timing {}: over {}", cell.identity.mode,
                           cell.result.rank_means ? "ranks" : "samples of all ranks");
    }

    std::vector<std::uint64_t> percentiles_;
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
/// busbw and #wrong out of place and in place; N/A in the half that was not measured. Time is the mean over ranks with
/// --timing nccl and osu, else the median. Then the two lines that scripts look for.
class NcclTable final : public TableOfSeries {
public:
    void expect(SweepPoint const& point) override {
        std::size_t const forms = ++forms_[form_of(point.parameters, name_of(point.memory))];
        joins_ = joins_ || forms > 1;
    }

private:
    /// What both forms of a row have in common.
    static std::string form_of(auto parameters, std::string_view memory) {
        parameters.erase("in-place");
        std::string text(memory);
        for (auto const& [name, value] : parameters) {
            text += fmt::format(" {}={}", name, value);
        }
        return text;
    }
    [[nodiscard]] std::string name_of_series(std::string_view title) const override {
        std::string name(title);
        for (std::string_view const word : {"in-place=on ", "in-place=off "}) {
            if (std::size_t const at = name.find(word); joins_ && at != name.npos) {
                name.erase(at, word.size());
            }
        }
        return name;
    }
    [[nodiscard]] std::string columns(record::Record const& /*cell*/) const override {
        constexpr char const* names = "# {:>10}  {:>12}  {:>8}  {:>6}  {:>6}  {:>7}  {:>6}  {:>6} {:>6}  {:>7}  {:>6}  "
                                      "{:>6} {:>6}\n";
        return fmt::format("# {:>50}           out-of-place                       in-place\n", "") +
               fmt::format(names, "size", "count", "type", "redop", "root", "time", "algbw", "busbw", "#wrong", "time",
                           "algbw", "busbw", "#wrong") +
               fmt::format(names, "(B)", "(elements)", "", "", "", "(us)", "(GB/s)", "(GB/s)", "", "(us)", "(GB/s)",
                           "(GB/s)", "");
    }

    void failed(record::Record const& cell) override {
        invalid_ += cell.result.status == measure::Status::invalid ? 1 : 0;
    }

    [[nodiscard]] Row row(record::Record const& cell) override {
        ++halves_;
        busbw_sum_GBps_ += bandwidth(cell.traffic, time_of(cell)).busbw_GBps;
        std::string const operation = parameter(cell, "operation").value_or("");
        bool const reduces = operation == "allreduce" || operation.starts_with("reduce");
        bool const rooted = operation == "broadcast" || operation == "reduce" || operation.starts_with("gather") ||
                            operation.starts_with("scatter");
        bool const in_place = parameter(cell, "in-place").value_or("off") == "on";
        auto const forms = forms_.find(form_of(cell.identity.parameters, cell.identity.memory));
        Row row{fmt::format("{:>12}  {:>12}  {:>8}  {:>6}  {:>6}", cell.traffic.largest_total_bytes,
                            count_text(cell, operation), parameter(cell, "element").value_or("byte"),
                            reduces ? parameter(cell, "reduction").value_or("none") : "none",
                            rooted ? parameter(cell, "root").value_or("-1") : "-1")};
        (in_place ? row.in_place : row.figures) = half(cell);
        row.waits = forms != forms_.end() && forms->second > 1;
        return row;
    }

    [[nodiscard]] std::string line(Row const& row) const override {
        std::string const none = fmt::format("  {:>7}  {:>6}  {:>6} {:>6}", "N/A", "N/A", "N/A", "N/A");
        return row.words + (row.figures.empty() ? none : row.figures) + (row.in_place.empty() ? none : row.in_place) +
               '\n';
    }

    [[nodiscard]] std::string totals() const override {
        if (halves_ + invalid_ == 0) {
            return "";
        }
        return fmt::format("# Out of bounds values : {} {}\n# Avg bus bandwidth    : {:g}\n#\n", invalid_,
                           invalid_ == 0 ? "OK" : "FAILED", halves_ == 0 ? 0 : busbw_sum_GBps_ / halves_);
    }

    static double time_of(record::Record const& cell) {
        return cell.result.rank_means ? cell.result.rank_means->mean : cell.result.time.median;
    }
    static std::string half(record::Record const& cell) {
        Bandwidth const rate = bandwidth(cell.traffic, time_of(cell));
        char const* const wrong = cell.result.validation.verdict == measure::Verdict::passed ? "0" : "N/A";
        return fmt::format("  {:>7}  {:>6.2f}  {:>6.2f} {:>6}", time_text(time_of(cell) / nanoseconds_per_microsecond),
                           rate.algbw_GBps, rate.busbw_GBps, wrong);
    }

    std::map<std::string, std::size_t> forms_;  // 2: out of place and in place are measured
    bool joins_ = false;
    int halves_ = 0;
    int invalid_ = 0;  // cells whose payload was wrong
    double busbw_sum_GBps_ = 0;
};

}  // namespace

std::unique_ptr<Table> make_table(Options const& options) {
    switch (options.layout) {
    case Layout::osu:
        return std::make_unique<OsuTable>(options.percentiles);
    case Layout::nccl:
        return std::make_unique<NcclTable>();
    case Layout::dlmb:
        break;
    }
    return std::make_unique<OwnTable>(options.columns);
}

std::string figure_of_merit(record::Record const& cell) {
    if (cell.result.status != measure::Status::ok) {
        return "";
    }
    return fmt::format("DLMB-FOM {} median {:.3f} us\n", cell.cell_id,
                       cell.result.time.median / nanoseconds_per_microsecond);
}

}  // namespace dlmb::app
